"""Merge two bullets without losing anything of either.

What a merge writes, in this order, so that a crash leaves both texts in the store:

1. the absorbed bullet's bytes, unchanged, below `archive/`;
2. the survivor's own bytes as they were, unchanged, at `Merge.prior_path`. That
   name does not end in `.md`, so no scan takes it for a bullet;
3. the survivor, with the absorbed id in `merged_from`;
4. the absorbed file is removed from its section.

`memx unmerge` moves the absorbed bytes back. If the survivor still has the
bytes that step 3 wrote, its bytes of step 2 are put back, which restores both
files exactly; if it was edited since, the edit is kept and only the id leaves
`merged_from` (`separate`).
"""

from __future__ import annotations

import re

from memx.curator.tokens import HARD, analyse
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.curator.tokens import Analysis
    from memx.model import Bullet

_UNIONS = ("tags", "tools", "entities", "anchors", "supersedes", "conflicts_with", "compatible_with")
_SENTENCE = re.compile(r"[^。！？!?\n.]*(?:[.](?!\s|$)[^。！？!?\n.]*)*(?:[。！？!?]+|[.](?=\s|$)|\n+|$)\s*")
_FACT = re.compile(
    r"`[^`\n]+`|[A-Za-z0-9_$@#%./\\:\-]*\d[A-Za-z0-9_$@%./\\:\-]*|[A-Za-z_$][\w$]*(?:[_./:\\-][\w$]+)+",
    re.ASCII,
)
_NEW_CONTENT = 0.5  # share of a sentence's weight that the other text lacks
_SOURCE_SEPARATOR = "; "


@record
class Merge:
    """A planned merge: the bullet to write, and the one that goes to the archive."""

    survivor: Bullet
    absorbed: Bullet

    def prior_path(self, survivor_path: str) -> str:
        """Return where the survivor's own earlier bytes are kept, relative to the store's root."""
        tail = survivor_path.partition("/")[2] or survivor_path
        return f"archive/{tail.removesuffix('.md')}.before-{self.absorbed.id}"

    def joined_path(self, survivor_path: str) -> str:
        """Return where a text that was not joined by sentences is kept, so that the merge can be replayed."""
        return self.prior_path(survivor_path).replace(".before-", ".joined-")


def merge(existing: Bullet, incoming: Bullet, strategy: str, now: float, joined: str = "") -> Merge:
    """Merge by `curator.merge_strategy`; now in seconds becomes `updated` when the text changes.

    joined: the text of both, where somebody wrote it; it is taken only if it keeps all their facts.
    """
    if strategy == "merge_content":
        return merge_content(existing, incoming, now, joined)
    return keep_best(existing, incoming)


def keep_best(existing: Bullet, incoming: Bullet) -> Merge:
    """Let the bullet with the higher score survive, the existing one on a tie; its text stays as it is."""
    survivor, absorbed = (incoming, existing) if incoming.score > existing.score else (existing, incoming)
    return Merge(_take_over(survivor, absorbed), absorbed)


def merge_content(existing: Bullet, incoming: Bullet, now: float, joined: str = "") -> Merge:
    """Like `keep_best`, and the survivor gains the other's sentences that say something more, or the joined text."""
    kept = keep_best(existing, incoming)
    all_facts = facts(existing.text) | facts(incoming.text)
    is_whole = bool(joined) and all_facts <= facts(joined)
    text = joined if is_whole else join_texts(kept.survivor.text, kept.absorbed.text)
    if text == kept.survivor.text:
        return kept
    return Merge(replace(kept.survivor, text=text, updated=now), kept.absorbed)


def join_texts(text: str, other: str) -> str:
    """Append the sentences of `other` whose facts or content `text` lacks.

    Every number and identifier of both texts is in the result as it was written.
    """
    for raw in _SENTENCE.findall(other):
        sentence = raw.strip()
        if sentence and sentence not in text and _says_more(sentence, text):
            text = _append(text, sentence)
    return text


def _says_more(sentence: str, text: str) -> bool:
    if facts(sentence) - facts(text):
        return True
    added, known = analyse(sentence), analyse(text)
    new = [unit for unit in added.units if not _is_known(unit.keys, known)]
    weight = sum(unit.weight for unit in new)
    return any(unit.kind in HARD for unit in new) or weight > _NEW_CONTENT * max(added.weight, 1.0)


def _is_known(keys: tuple[str, ...], known: Analysis) -> bool:
    return any(key in known.index for key in keys) or keys[0] in known.text


def facts(text: str) -> frozenset[str]:
    """Return a text's numbers and identifiers as they are written."""
    return frozenset(match.rstrip(".,:/-") for match in _FACT.findall(text))


def _append(text: str, sentence: str) -> str:
    head = text.rstrip()
    if not head:
        return sentence
    is_closed = head[-1] in ".。!！?？:：;；`" or "\n" in text
    if "\n" in text:
        return f"{head}\n{sentence}"
    has_cjk = head[-1] >= "\u3000"
    return f"{head}{'' if is_closed else '。' if has_cjk else '.'}{'' if has_cjk else ' '}{sentence}"


def _take_over(survivor: Bullet, absorbed: Bullet) -> Bullet:
    own = {survivor.id, absorbed.id}
    unions = {
        name: tuple(sorted(({*getattr(survivor, name), *getattr(absorbed, name)}) - own)) for name in _UNIONS
    }
    came_in = {*survivor.merged_from, *absorbed.merged_from, absorbed.id} - {survivor.id}
    return replace(
        survivor,
        **unions,
        merged_from=tuple(sorted(came_in)),
        recall_count=survivor.recall_count + absorbed.recall_count,
        created=_least((survivor.created, absorbed.created)),
        accepted=_most((survivor.accepted, absorbed.accepted)),
        last_recalled=_most((survivor.last_recalled, absorbed.last_recalled)),
        source=_sources(survivor.source, absorbed.source),
        pinned=survivor.pinned or absorbed.pinned,
        title=survivor.title or absorbed.title,
        author=survivor.author or absorbed.author,
        half_life_days=survivor.half_life_days
        if survivor.half_life_days is not None
        else absorbed.half_life_days,
    )


def separate(survivor: Bullet, absorbed_id: str) -> Bullet:
    """Take one id out of `merged_from`: what `unmerge` does to a survivor that was edited since the merge."""
    return replace(survivor, merged_from=tuple(i for i in survivor.merged_from if i != absorbed_id))


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _most(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _sources(own: str, other: str) -> str:
    parts = [part for source in (own, other) for part in source.split(_SOURCE_SEPARATOR) if part]
    return _SOURCE_SEPARATOR.join(dict.fromkeys(parts))
