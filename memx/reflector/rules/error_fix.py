"""An error, its cause and its remedy."""

from __future__ import annotations

from memx.model import Span
from memx.reflector.features import is_fix_title
from memx.reflector.guards import advises
from memx.reflector.rules.rule import Match
from memx.reflector.rules.stated import StatedRule
from memx.reflector.rules.statement import LONGEST
from memx.reflector.segment import PROSE, TITLE
from memx.reflector.stated import diagnosed_support, is_concrete
from memx.reflector.vocabulary import cue_counts, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.reflector.segment import Sentence

_TOLD = 0.6
"""How far a short fix that tells what happened and then what to do is a lesson, with no reason word in it."""
_TELLING = frozenset(("failure", "hazard", "cause", "reason", "diagnosis", "past"))


class ErrorFixRule(StatedRule):
    """`TypeError: … → turns out you need a type assertion`."""

    name = "error_fix"
    confidence = 0.8
    reach = 3
    negation = "before"
    cue = "diagnosis"
    support_of = staticmethod(diagnosed_support)

    def find(
        self, sentences: Sequence[Sentence], language: str, lowered: Sequence[str] = ()
    ) -> Iterator[Match]:
        """Yield what the wording shows and, in a short fix, what is told by its order: trouble, story, remedy."""
        found = list(super().find(sentences, language, lowered))
        yield from found
        if not found and (told := self._told(sentences, language)):
            yield told

    def _told(self, sentences: Sequence[Sentence], language: str) -> Match | None:
        if not 3 <= len(sentences) <= LONGEST or not _is_trouble(sentences[0], language):  # noqa: PLR2004
            return None
        words = vocabulary(language)
        body = [at for at in range(1, len(sentences)) if sentences[at].kind == PROSE]
        told = [at for at in body if not _TELLING.isdisjoint(cue_counts(language, sentences[at].masked))]
        advised = next((at for at in body if told and at > told[0] and advises(sentences[at], words)), None)
        # One by one: joined, the title's end and the body's beginning would look like a name.
        if advised is None or not any(is_concrete((s,), words) for s in sentences[: advised + 1]):
            return None
        text = " ".join(sentence.text for sentence in sentences[told[0] : advised + 1])
        return Match(
            self.name, self.confidence, _TOLD, told[0], advised, (Span(0, len(text), text, self.name),)
        )


def _is_trouble(title: Sentence, language: str) -> bool:
    """Tell whether a title says that something was wrong, not only that branches were joined."""
    if title.kind != TITLE or title.text.startswith(("Merge ", "Revert ")):
        return False
    cues = cue_counts(language, title.masked)
    if "trivial" in cues or "slip" in cues:
        return False
    return is_fix_title(title.text) or "failure" in cues or "hazard" in cues
