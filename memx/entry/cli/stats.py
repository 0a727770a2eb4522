"""`memx stats`: counts of the store, and with `--llm` the ledger of the LLM's calls."""

from __future__ import annotations

from memx.amount import amount
from memx.entry.cli.command import Command, flag
from memx.errors import EXIT_OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.app.llm import Total
    from memx.app.stats import Stats
    from memx.entry.cli.invocation import Invocation

_COLUMNS = ("calls", "tokens_in", "tokens_out", "cached", "refused", "failed")


def run_stats(invocation: Invocation, *, llm: bool) -> int:
    """Count what the store holds, or what the LLM was asked."""
    if llm:
        from memx.app.llm import read_totals

        totals = read_totals(invocation.project)
        names = ("day", "mode", "model", *_COLUMNS)
        rows = [{name: getattr(total, name) for name in names} for total in totals]
        invocation.emit({"llm": rows}, _ledger_lines(totals))
        return EXIT_OK
    from memx.app.stats import count

    stats = count(invocation.project)
    document = {
        "bullets": stats.bullets,
        "archived": stats.archived,
        "sections": dict(stats.sections),
        "types": dict(stats.types),
        "inbox": stats.inbox,
        "queued": stats.queued,
    }
    invocation.emit(document, _count_lines(stats))
    return EXIT_OK


def _count_lines(stats: Stats) -> Iterator[str]:
    yield f"{amount(stats.bullets, 'bullet')}, {stats.archived} archived"
    for name, counts in (("section", stats.sections), ("type", stats.types)):
        if counts:
            yield f"by {name}: " + ", ".join(f"{key} {number}" for key, number in counts)
    yield f"{stats.inbox} in the inbox, {stats.queued} of them queued for the LLM"


def _ledger_lines(totals: list[Total]) -> Iterator[str]:
    if not totals:
        yield "no LLM was asked"
        return
    width = max(len(total.model) for total in totals)
    width = max(width, len("model"))
    yield f"{'day':<10}  {'mode':<6}  {'model':<{width}}" + "".join(f"  {name:>10}" for name in _COLUMNS)
    for total in totals:
        numbers = "".join(f"  {getattr(total, name):>10,}" for name in _COLUMNS)
        yield f"{total.day:<10}  {total.mode:<6}  {total.model:<{width}}{numbers}"


COMMANDS = (
    Command(
        "stats",
        "Count what the store holds, and what an LLM cost.",
        run_stats,
        (flag("llm", "The LLM's calls and tokens by day, mode and model."),),
    ),
)
