"""What is wrong in a store's files, by path and line."""

from __future__ import annotations

from memx.document import find_conflict_marker
from memx.errors import FrontMatterError, MemxError, UnsafePathError
from memx.model import SECTIONS, TYPES, Bullet, Problem
from memx.store.codec import line_of_key, parse_bullet, read_fields
from memx.store.paths import refuse_unsafe
from memx.store.reader import StoreReader, duplicate_problem, problem_of
from memx.supersession import Supersession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from memx.model import StoredBullet
    from memx.store.redaction import Sanitizer


def lint_store(
    reader: StoreReader, sanitizer: Sanitizer, paths: Iterable[str] | None = None
) -> list[Problem]:
    """Return what is wrong in these files, or in all of them, archive included.

    All files are read for their ids whichever are asked for: a duplicate concerns two.
    """
    problems: list[Problem] = []
    chosen: set[str] | None = None
    if paths is not None:
        chosen = set(_choose(reader, paths, problems))
    seen: dict[str, StoredBullet] = {}
    found: set[str] = set()
    links: list[Problem] = []
    for archived in (False, True):
        for path in reader.paths(archived=archived, problems=links):
            found.add(path)
            _lint_file(reader, sanitizer, path, chosen, seen, problems)
    problems += [link for link in links if chosen is None or link.path in chosen]
    problems += find_cycles(seen.values(), chosen)
    missing = (chosen or set()) - found - {link.path for link in links}
    problems += [Problem("there is no such bullet", path, kind="unreadable") for path in sorted(missing)]
    return problems


def find_cycles(bullets: Iterable[StoredBullet], chosen: set[str] | None = None) -> list[Problem]:
    """Return a problem for each live bullet of a cycle of `supersedes`: none of them gives way."""
    live = {stored.bullet.id: stored for stored in bullets if not stored.archived}
    cycles = Supersession.of(stored.bullet for stored in live.values()).cycles()
    return [
        _cycle_problem(cycle, live[name].path, name)
        for cycle in cycles
        for name in cycle
        if chosen is None or live[name].path in chosen
    ]


def _cycle_problem(cycle: tuple[str, ...], path: str, name: str) -> Problem:
    """Return what is wrong with one bullet of a cycle."""
    others = [other for other in cycle if other != name]
    if not others:
        hint = f"take {name} out of its own supersedes: memx edit {name}"
        return Problem("the bullet supersedes itself", path, hint=hint, kind="supersedes-cycle")
    message = f"supersedes in a circle with {', '.join(others)}"
    return Problem(message, path, hint=f"memx resolve {name} {others[0]}", kind="supersedes-cycle")


def lint_bytes(data: bytes, path: str, sanitizer: Sanitizer) -> list[Problem]:
    """Return what is wrong in one file's bytes, as they are in the work tree or staged."""
    text = data.decode(errors="replace")
    problems: list[Problem] = []
    try:
        bullet = parse_bullet(data, path=path)
        problems += _find_oddities(read_fields(text, path)[0], bullet, text, path)
    except FrontMatterError as error:
        problems.append(problem_of(error, path))
        line = find_conflict_marker(text)
        if line is not None and problems[0].kind != "conflict-marker":
            problems.append(
                Problem("the file holds git's conflict markers", path, line, kind="conflict-marker")
            )
    return problems + _find_secrets(text, path, sanitizer)


def _choose(reader: StoreReader, paths: Iterable[str], problems: list[Problem]) -> Iterable[str]:
    for path in paths:
        try:
            yield reader.path_of(path)
        except UnsafePathError as error:
            problems.append(problem_of(error, path))


def _lint_file(
    reader: StoreReader,
    sanitizer: Sanitizer,
    path: str,
    chosen: set[str] | None,
    seen: dict[str, StoredBullet],
    problems: list[Problem],
) -> None:
    is_chosen = chosen is None or path in chosen
    try:
        data = reader.read_bytes(path)
        if is_chosen:
            problems += lint_bytes(data, path, sanitizer)
        stored = reader.parse(data, path)
    except FrontMatterError:
        # `lint_bytes` named it already.
        return
    except MemxError as error:
        if is_chosen:
            problems.append(problem_of(error, path))
        return
    first = seen.setdefault(stored.bullet.id, stored).path
    if first != path and (is_chosen or (chosen is not None and first in chosen)):
        problems.append(duplicate_problem(stored.bullet.id, path, first))


def _find_oddities(fields: Mapping[str, Any], bullet: Bullet, text: str, path: str) -> list[Problem]:
    """Return unknown sections and types, which read as the default, and anchors that lead out."""
    problems: list[Problem] = []
    for key, known in (("section", SECTIONS), ("type", TYPES)):
        value = fields.get(key)
        if isinstance(value, str) and value.strip().lower() not in known:
            hint = "one of: " + ", ".join(known)
            message = f"unknown {key} {value!r}"
            problems.append(Problem(message, path, line_of_key(text, key), hint=hint, kind=key))
    for anchor in bullet.anchors:
        try:
            refuse_unsafe(anchor, "anchor")
        except UnsafePathError as error:
            line = _line_below(text, line_of_key(text, "anchors"), anchor)
            message = f"{error.message}: {anchor!r}"
            problems.append(Problem(message, path, line, hint=error.hint or "", kind="unsafe-path"))
    return problems


def _line_below(text: str, first: int, needle: str) -> int:
    """Return the line at or below `first` that holds the needle, else `first`."""
    for number, line in enumerate(text.split("\n")[first - 1 :], first):
        if needle in line:
            return number
    return first


def _find_secrets(text: str, path: str, sanitizer: Sanitizer) -> list[Problem]:
    """Return a problem for each secret in a file; the secret itself is not repeated."""
    return [
        Problem(
            f"this looks like a secret ({finding.kind})",
            path,
            text.count("\n", 0, finding.start) + 1,
            hint="take it out of the file; once it was pushed, revoke it as well",
            kind="secret",
        )
        for finding in sanitizer.secrets(text)
    ]
