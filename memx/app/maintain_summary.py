"""The result of `memx maintain` as Markdown for a pull request.

Texts of bullets stand in code spans: what somebody once wrote must not become
a heading, a link or a mention in a review.
"""

from __future__ import annotations

from memx.amount import amount
from memx.app.diff_formats import cell, code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.app.forget import Weighed
    from memx.app.maintain import Maintained

_SHOWN_CHARS = 80
_SHOWN_ROWS = 50


def format_summary(done: Maintained) -> str:
    """Return the whole summary; the same result gives the same text."""
    lines = ["## Memory maintenance", ""]
    if not done.is_changed:
        lines += ["Nothing in the store had to change.", ""]
    lines += _section("Archived", ("bullet", "why", "text"), [_archived(row) for row in done.archived])
    folded = [(f"`{name}`", str(count)) for name, count in sorted(done.folded.items())]
    lines += _section("Recalls folded", ("bullet", "recalls"), folded)
    lines += _section(
        "Duplicates to merge (`memx dedup`)",
        ("keep", "merge into it", "text"),
        [
            (
                f"`{group.survivor.bullet.id}`",
                ", ".join(f"`{absorption.stored.bullet.id}`" for absorption in group.absorbed),
                _cell(group.survivor.bullet.text),
            )
            for group in done.duplicates
        ],
    )
    lines += _section(
        "Conflicts to resolve (`memx resolve`)",
        ("one", "other", "advice"),
        [(f"`{c.a.bullet.id}`", f"`{c.b.bullet.id}`", _cell(c.recommendation)) for c in done.conflicts],
    )
    lines += _section(
        "Called wrong (`memx review`)",
        ("bullet", "because", "text"),
        [(f"`{s.bullet.id}`", _cell(s.bullet.disputed_because), _cell(s.bullet.text)) for s in done.disputed],
    )
    lines += _section(
        "Code that has moved on (`memx verify`)",
        ("bullet", "anchor", "state"),
        [(f"`{r.stored.bullet.id}`", _cell(r.anchor), r.state) for r in done.drifted],
    )
    lines += _section(
        "Files that cannot be read (`memx lint`)",
        ("file", "line", "problem"),
        [(_cell(p.path), str(p.line or ""), _cell(p.message)) for p in done.problems],
    )
    lines += [f"Note: {code(note)}" for note in done.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _archived(row: Weighed) -> tuple[str, str, str]:
    age, recalls = amount(round(row.decay.age_days), "day"), amount(row.recall_count, "recall")
    why = f"weight {row.decay.weight:.4f}, {age} old, {recalls}"
    return f"`{row.head.id}`", why, _cell(row.head.headline)


def _section(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a heading and a table, nothing when there are no rows."""
    if not rows:
        return
    yield f"### {title}: {len(rows)}"
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows[:_SHOWN_ROWS]:
        yield f"| {' | '.join(row)} |"
    yield ""
    if len(rows) > _SHOWN_ROWS:
        yield f"and {len(rows) - _SHOWN_ROWS} more"
        yield ""


def _cell(text: str) -> str:
    """Return text as one code span of a table, not longer than a line; nothing for no text."""
    line = " ".join(text.split())
    return cell(line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…") if line else ""
