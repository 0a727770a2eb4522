"""PrivacySanitizer: every string that lands on disk goes through it first."""

from __future__ import annotations

import re
from bisect import bisect_right

from memx.redact import assignments, detectors, personal, providers
from memx.redact.custom import CustomPattern
from memx.redact.finding import Finding, Match, Redaction
from memx.redact.shape import has_digit, has_letter
from memx.redact.view import joined, normalised, unescaped, without_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memx.redact.view import Joined, View

_PLACEHOLDER = re.compile(r"<(?:redacted:[a-z0-9-]+|email|ip|host|user)>")
_MIN_FOLDER = 4


class PrivacySanitizer:
    """Replaces secrets and personal data by placeholders.

    home, root: absolute folders that become `~` and `.`. users: names that
    become `<user>`. patterns: regular expressions whose matches are secrets;
    ConfigError when one is bad or could run away.

    `sanitize` accepts any str and is idempotent: it repeats until it finds
    nothing more, and what it has written is never matched again.
    """

    def __init__(
        self,
        home: str = "",
        root: str = "",
        users: Iterable[str] = (),
        patterns: Iterable[str] = (),
    ) -> None:
        """Check and compile what is given; touch neither disk nor environment."""
        self._home = _folder(home)
        self._root = _folder(root)
        self._users = tuple(sorted({name for name in users if name}, key=len, reverse=True))
        self._patterns = tuple(CustomPattern(pattern) for pattern in patterns)

    def sanitize(self, text: str) -> Redaction:
        """Return the text without secrets and personal data, and the findings in the original's places."""
        text = without_surrogates(text)
        findings: list[Finding] = []
        rounds: list[_Edits] = []
        while matches := self._matches(text):
            for match in matches:
                start, end = match.start, match.end
                for edits in reversed(rounds):
                    start, end = edits.original(start, end)
                findings.append(Finding(match.kind, start, end, match.is_secret))
            rounds.append(_Edits(matches))
            text = _replaced(text, matches)
        findings.sort(key=lambda finding: (finding.start, finding.end))
        return Redaction(text, tuple(findings))

    def secrets(self, text: str) -> tuple[Finding, ...]:
        """Return the findings that are secrets, for what must refuse rather than rewrite."""
        return tuple(finding for finding in self.sanitize(text).findings if finding.is_secret)

    def breaks_secrets(self, text: str) -> bool:
        """Say cheaply whether a secret may go on in the next line, so that nothing knows it once lines are joined."""
        view = normalised(text)
        whole = joined(view)
        if whole is None:
            return False
        return (
            bool(self._patterns) or "PRIVATE KEY" in view.text or any(_across_lines(whole.text, whole.joints))
        )

    def _matches(self, text: str) -> list[Match]:
        view = normalised(text)
        found = [_in_original(match, view) for match in self._detect(view.text)]
        if (plain := unescaped(view)) is not None:
            found += [_in_original(match, plain) for match in self._detect(plain.text)]
        if (whole := joined(view)) is not None:
            found += [_in_original(match, whole) for match in _across_lines(whole.text, whole.joints)]
        return _disjoint(found, _protected(text, view)) if found else []

    def _detect(self, text: str) -> Iterator[Match]:
        for pattern in self._patterns:
            yield from pattern.matches(text)
        yield from providers.private_keys(text)
        known = list(providers.tokens(text))
        yield from known
        yield from providers.split_tokens(text)
        yield from providers.url_credentials(text)
        yield from assignments.assignments(text)
        yield from personal.roots(text, self._root)
        yield from personal.homes(text, self._home)
        yield from personal.emails(text)
        yield from personal.phones(text)
        yield from personal.addresses(text)
        yield from personal.hosts(text)
        yield from personal.users(text, self._users)
        yield from detectors.provider_plugins(_blanked(text, known))


def _folder(path: str) -> str:
    path = path.rstrip("/\\")
    return path if len(path) >= _MIN_FOLDER else ""


def _blanked(text: str, known: Sequence[Match]) -> str:
    # What our own patterns found is no reason to load the plugins.
    for match in known:
        text = text[: match.start] + " " * (match.end - match.start) + text[match.end :]
    return _PLACEHOLDER.sub(lambda match: " " * len(match.group()), text) if "<" in text else text


def _in_original(match: Match, view: View | Joined) -> Match:
    start, end = view.span(match.start, match.end)
    return Match(match.kind, start, end, match.replacement, match.is_secret, match.priority)


_MIN_CONTINUATION = 4


def _across_lines(text: str, joints: Sequence[int]) -> Iterator[Match]:
    # The rest of a broken token has digits or capitals amid letters; a next line of prose has not.
    for match in providers.tokens(text):
        index = bisect_right(joints, match.start)
        inside = [joint for joint in joints[index : index + 8] if joint < match.end]
        if not inside:
            continue
        rest = text[inside[0] : match.end]
        if (
            len(rest) >= _MIN_CONTINUATION
            and has_letter(rest)
            and (has_digit(rest) or rest[1:].lower() != rest[1:])
        ):
            yield match


def _protected(text: str, view: View) -> list[tuple[int, int]]:
    spans = [match.span() for match in _PLACEHOLDER.finditer(text)] if "<" in text else []
    if view.text is not text:
        spans += [view.span(*match.span()) for match in _PLACEHOLDER.finditer(view.text)]
        spans.sort()
    return spans


def _disjoint(found: Iterable[Match], protected: Sequence[tuple[int, int]]) -> list[Match]:
    """Join overlapping matches under the name of the weightiest, and leave placeholders alone."""
    joined_matches: list[Match] = []
    for next_match in sorted(found, key=lambda m: (m.start, -m.end)):
        match = next_match
        if joined_matches and match.start < joined_matches[-1].end:
            last = joined_matches.pop()
            best = max(last, match, key=lambda m: (m.priority, m.end - m.start))
            end = max(last.end, match.end)
            match = Match(
                best.kind, last.start, end, best.replacement, last.is_secret or match.is_secret, best.priority
            )
        joined_matches.append(match)
    return [piece for match in joined_matches for piece in _outside(match, protected)]


def _outside(match: Match, protected: Sequence[tuple[int, int]]) -> Iterator[Match]:
    start = match.start
    for low, high in protected:
        if high <= start:
            continue
        if low >= match.end:
            break
        if start < low:
            yield Match(match.kind, start, low, match.replacement, match.is_secret, match.priority)
        start = high
    if start < match.end:
        yield Match(match.kind, start, match.end, match.replacement, match.is_secret, match.priority)


def _replaced(text: str, matches: Sequence[Match]) -> str:
    pieces: list[str] = []
    last = 0
    for match in matches:
        pieces += (text[last : match.start], match.replacement)
        last = match.end
    pieces.append(text[last:])
    return "".join(pieces)


class _Edits:
    """The way from a rewritten text back to the one before it."""

    __slots__ = ("_matches", "_starts")

    def __init__(self, matches: Sequence[Match]) -> None:
        self._matches = matches
        shift = 0
        self._starts: list[tuple[int, int]] = []
        for match in matches:
            start = match.start + shift
            shift += len(match.replacement) - (match.end - match.start)
            self._starts.append((start, start + len(match.replacement)))

    def original(self, start: int, end: int) -> tuple[int, int]:
        return self._place(start, is_end=False), self._place(end, is_end=True)

    def _place(self, place: int, *, is_end: bool) -> int:
        shift = 0
        for (start, end), match in zip(self._starts, self._matches, strict=True):
            if place < start or (place == start and not is_end) or (place == start and is_end):
                break
            if place < end:
                return match.end if is_end else match.start
            shift += (match.end - match.start) - (end - start)
        return place + shift
