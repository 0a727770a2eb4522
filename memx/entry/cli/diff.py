"""`memx diff`: what a branch changes in memory, for review."""

from __future__ import annotations

from memx.entry.cli.command import Command, argument, option
from memx.errors import EXIT_EXPECTED, EXIT_OK, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.diff_report import DiffReport
    from memx.entry.cli.invocation import Invocation

FORMATS = ("text", "md", "json", "github", "sarif")
ANY = "any"
RECIPES = {"github": "github-actions.yml", "gitlab": "gitlab-ci.yml"}


def run_diff(
    invocation: Invocation,
    *,
    range: str | None,  # noqa: A002 (the argument's name)
    format: str,  # noqa: A002 (the flag's name)
    fail_on: tuple[str, ...],
    recipe: str | None,
) -> int:
    """Show what a range changes in memory; exit 1 when it holds a finding that was asked to fail."""
    if recipe:
        return _print_recipe(invocation, recipe)
    from memx.app.diff import diff

    kinds = _kinds(fail_on)
    report = diff(invocation.project, range or "")
    _print(invocation, report, "json" if invocation.json else format)
    for reason in report.degraded:
        invocation.notice(f"not looked at: {reason}")
    failing = report.failing(kinds)
    if failing:
        found = sorted({finding.kind for finding in failing})
        invocation.notice(f"{len(failing)} to mend before this is merged: {', '.join(found)}")
    return EXIT_EXPECTED if failing else EXIT_OK


def _print_recipe(invocation: Invocation, name: str) -> int:
    from memx.resources import resource

    with open(resource(f"template/ci/{RECIPES[name]}"), encoding="utf-8") as stream:
        content = stream.read()
    invocation.emit({"recipe": name, "content": content}, [content.rstrip("\n")])
    return EXIT_OK


def _kinds(fail_on: tuple[str, ...]) -> frozenset[str]:
    """Return the kinds that fail; raises UsageError for none or an unknown one: no gate opens by a typo."""
    from memx.app.diff_report import FINDING_KINDS

    asked = {kind.strip() for item in fail_on for kind in item.split(",") if kind.strip()}
    if fail_on and not asked:
        raise UsageError("--fail-on names no finding", hint="is the variable behind it set? or leave it out")
    unknown = sorted(asked - FINDING_KINDS.keys() - {ANY})
    if unknown:
        raise UsageError(
            f"unknown finding {unknown[0]!r}", hint=f"one of: {', '.join((*FINDING_KINDS, ANY))}"
        )
    return frozenset(FINDING_KINDS if ANY in asked else asked)


def _print(invocation: Invocation, report: DiffReport, form: str) -> None:
    from memx.app import diff_formats

    if form == "json":
        invocation.document(report.document())
    elif form == "sarif":
        import json

        invocation.print(json.dumps(diff_formats.format_sarif(report), ensure_ascii=True, indent=2))
    elif form == "md":
        invocation.print(diff_formats.format_markdown(report).rstrip("\n"))
    else:
        lines = diff_formats.format_github(report) if form == "github" else diff_formats.format_text(report)
        for line in lines:
            invocation.print(line)


COMMANDS = (
    Command(
        "diff",
        "Show what a branch changes in memory: bullets, duplicates, contradictions, secrets, stale anchors.",
        run_diff,
        (
            argument(
                "range",
                "A..B, A...B or A, as in git diff (default: where the branch began, up to the work tree).",
                required=False,
            ),
            option("format", "How to print.", choices=FORMATS, default="text"),
            option(
                "recipe", "Print a CI job that reviews memory, and do nothing else.", choices=tuple(RECIPES)
            ),
            option("fail_on", "Exit 1 on these findings, such as secret,contradiction, or any.", many=True),
        ),
    ),
)
