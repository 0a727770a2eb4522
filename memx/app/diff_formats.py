"""A memory diff for people, pull requests and code scanners.

What bullets say was written by whoever sent the branch: it is escaped for each
format, so that no text can pose as a heading, a link, a mention, an annotation
or a terminal command.
"""

from __future__ import annotations

from memx import __version__
from memx.app.diff_report import CHANGE_KINDS, FINDING_KINDS
from memx.app.project import STORE_FOLDER
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from memx.app.diff_report import Change, DiffReport, Finding, Touched

SIGNS = {
    "added": "+",
    "changed": "~",
    "promoted": "^",
    "archived": "a",
    "restored": "r",
    "removed": "-",
    "moved": ">",
    "counted": "#",
}
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
COMMENT_MARK = "<!-- memx-diff -->"
"""First line of the Markdown form: by it a recipe finds the comment that it wrote before."""
SHOWN_CHARS = 120
LISTED_CHANGES = 50
_GITHUB_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def format_text(report: DiffReport) -> Iterator[str]:
    """Yield lines for a terminal."""
    yield f"memory: {summary(report)} against {show_controls(report.label)} ({report.base[:12]})"
    for change in _shown(report):
        yield f"{SIGNS[change.kind]} {change.id}  {show_controls(_describe(change))}"
    for one in report.touched:
        yield f"! {show_controls(_speaks(one))}"
    for finding in report.findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        who = f"{finding.id} " if finding.id else ""
        yield f"{finding.level}: {finding.kind}: {show_controls(f'{who}{finding.message} ({place})')}"


def summary(report: DiffReport) -> str:
    """Return the counts in words."""
    counts = report.counts()
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "no bullet changes"


def _shown(report: DiffReport) -> list[Change]:
    """Return the changes worth a line, in the order of their kinds; counters are only counted."""
    return [change for kind in CHANGE_KINDS[:-1] for change in report.changes if change.kind == kind]


def _describe(change: Change) -> str:
    bullet = change.stored.bullet
    text = " ".join((bullet.title or bullet.text).split())
    shown = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
    detail = ""
    if change.kind == "promoted" and change.old is not None:
        detail = f" ({change.old.bullet.scope} to {bullet.scope})"
    elif change.kind == "changed" and "text" not in change.fields:
        detail = f" ({', '.join(change.fields) or 'form'})"
    return f"{bullet.section}: {shown}{detail}"


def _speaks(one: Touched) -> str:
    number = len(one.ids)
    noun = "bullet speaks" if number == 1 else "bullets speak"
    return f"this branch changes {one.path}, about which {number} {noun}: {', '.join(one.ids)}"


def format_markdown(report: DiffReport) -> str:
    """Return a comment for a pull request."""
    lines = [COMMENT_MARK, f"### Memory: {summary(report)}", ""]
    lines.append(f"Against {code(report.label)} at {code(report.base[:12])}.")
    lines += _markdown_findings(report.findings)
    lines += _markdown_changes(report)
    if report.touched:
        lines += ["", "#### Code that bullets speak about", ""]
        lines += [f"- {code(one.path)}: {', '.join(map(code, one.ids))}" for one in report.touched]
    if report.degraded:
        lines += ["", *(f"Not looked at: {code(reason)}" for reason in report.degraded)]
    return "\n".join(lines) + "\n"


def _markdown_findings(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield from ("", "Nothing to look at twice.")
        return
    yield from ("", "#### To look at", "", "| | what | bullet | why |", "| --- | --- | --- | --- |")
    for finding in findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        yield (
            f"| {finding.level} | {finding.kind} | {cell(finding.id or place)} | {cell(finding.message)} |"
        )


def _markdown_changes(report: DiffReport) -> Iterator[str]:
    shown = _shown(report)
    if not shown:
        return
    yield from (
        "",
        "#### Bullets",
        "",
        "| | id | section | scope | lesson |",
        "| --- | --- | --- | --- | --- |",
    )
    for change in shown[:LISTED_CHANGES]:
        bullet = change.stored.bullet
        lesson = cell(_describe(change).partition(": ")[2])
        yield f"| {change.kind} | {code(change.id)} | {bullet.section} | {cell(bullet.scope)} | {lesson} |"
    if len(shown) > LISTED_CHANGES:
        yield from ("", f"and {len(shown) - LISTED_CHANGES} more.")


def code(text: str) -> str:
    """Return a text as a code span that it cannot leave: no link, mention, image or HTML comes to life in it."""
    shown = " ".join(show_controls(text).split()) or " "
    run = longest = 0
    for char in shown:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * (longest + 1)
    space = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{fence}{space}{shown}{space}{fence}"


def cell(text: str) -> str:
    """Return a code span for a table: a bar ends a cell even inside of code, save behind a backslash.

    Tables take that backslash out before anything else is read, so the code shows the bar alone.
    """
    return code(text).replace("|", "\\|")


def format_github(report: DiffReport) -> Iterator[str]:
    """Yield workflow commands, which GitHub shows at the lines of the pull request."""
    for finding in report.findings:
        place = f"file={_property(f'{STORE_FOLDER}/{finding.path}')},line={finding.line or 1}"
        title = _property(f"memx: {finding.kind}")
        message = f"{finding.id} {finding.message}" if finding.id else finding.message
        yield f"::{_GITHUB_LEVELS[finding.level]} {place},title={title}::{_message(message)}"
    for one in report.touched:
        yield f"::notice file={_property(one.path)},title={_property('memx: speaks about')}::{_message(_speaks(one))}"


def _message(text: str) -> str:
    return show_controls(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def format_sarif(report: DiffReport) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log with one run."""
    kinds = [kind for kind in FINDING_KINDS if any(f.kind == kind for f in report.findings)]
    rules = [
        {
            "id": f"memx/{kind}",
            "name": "".join(part.title() for part in kind.split("-")),
            "shortDescription": {"text": FINDING_KINDS[kind]},
        }
        for kind in kinds
    ]
    driver = {"name": "memx", "semanticVersion": __version__, "rules": rules}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(finding, kinds) for finding in report.findings],
            }
        ],
    }


def _sarif_result(finding: Finding, kinds: Sequence[str]) -> dict[str, Any]:
    from urllib.parse import quote

    where = {
        "artifactLocation": {"uri": quote(f"{STORE_FOLDER}/{finding.path}")},
        "region": {"startLine": finding.line or 1},
    }
    message = f"{finding.id} {finding.message}" if finding.id else finding.message
    return {
        "ruleId": f"memx/{finding.kind}",
        "ruleIndex": kinds.index(finding.kind),
        "level": finding.level,
        "message": {"text": show_controls(message)},
        "locations": [{"physicalLocation": where}],
        "partialFingerprints": {
            "memx/v1": f"{finding.kind}:{finding.id or finding.path}:{finding.other}:{finding.line or 0}"
        },
    }
