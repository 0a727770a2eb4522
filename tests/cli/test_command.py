"""A command is declared once: the light parser and typer understand the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer.main
from hypothesis import given
from hypothesis import strategies as st

from memx.entry.cli.command import FLAG, INTEGER, NUMBER, SHARED, Command, Parameter, parse, split_shared
from memx.entry.cli.main import find_command, iter_commands, with_default
from memx.entry.cli.table import GROUPS
from memx.entry.cli.typer_app import build_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

COMMANDS = list(iter_commands())
NAMES = [f"{group} {command.name}".strip() for group, command in COMMANDS]


def typer_command(seen: list[dict[str, object]]) -> click.Command:
    """Return the application as one click command that notes what it would run."""

    def execute(_: Command, values: dict[str, object]) -> int:
        seen.append(values)
        return 0

    helps = {name: parts[-1] for name, parts in GROUPS.items()}
    return typer.main.get_command(build_app(iter(COMMANDS), execute, "0", helps))


SEEN: list[dict[str, object]] = []
APPLICATION = typer_command(SEEN)


def by_typer(argv: list[str]) -> dict[str, object]:
    """Return the values that typer hands to a command."""
    SEEN.clear()
    with pytest.raises(SystemExit) as ended:
        APPLICATION.main(argv, prog_name="memx", standalone_mode=True)
    assert ended.value.code == 0, argv
    return SEEN[0]


def by_light(argv: list[str]) -> dict[str, object]:
    """Return the values that the light parser hands to a command."""
    found = split_shared(argv)
    assert found is not None
    command = find_command(with_default(found[1]))
    assert command is not None
    values = parse(command[0], command[1])
    assert values is not None, argv
    return {**found[0], **values}


def sample_value(parameter: Parameter) -> str:
    """Return a value that fits a parameter."""
    if parameter.choices:
        return parameter.choices[-1]
    return {INTEGER: "7", NUMBER: "0.5"}.get(parameter.kind, "word")


def forms(group: str, command: Command) -> Iterator[list[str]]:
    """Yield command lines: bare, with every option in both spellings, and with shared options around."""
    head = [group, command.name] if group else [command.name]
    words = [sample_value(p) for p in command.parameters if not p.flags and p.required]
    yield [*head, *words]
    yield ["--json", *head, *words, "-q"]
    yield [*head, "-C", "somewhere", "--", *words]
    for parameter in (*command.parameters, *SHARED):
        for flag in parameter.flags:
            if parameter.kind == FLAG:
                yield [*head, flag, *words]
                continue
            value = sample_value(parameter)
            yield [*head, flag, value, *words]
            if flag.startswith("--"):
                yield [*head, *words, f"{flag}={value}"]
            else:
                yield [*head, *words, flag + value]
            if parameter.many:
                yield [*head, flag, value, flag, value, *words]


@pytest.mark.parametrize(("group", "command"), COMMANDS, ids=NAMES)
def test_every_form_is_parsed_equally(group: str, command: Command) -> None:
    """Typer and the light parser give a command the same values."""
    for argv in forms(group, command):
        assert by_light(argv) == by_typer(argv), argv


@pytest.mark.parametrize(
    "argv",
    [
        ["search"],
        ["search", "x", "--nonsense"],
        ["search", "x", "-n", "many"],
        ["search", "x", "-n"],
        ["search", "x", "--json=yes"],
        ["search", "x", "--format", "pdf"],
        ["show", "a", "b"],
        ["search", "--help"],
        ["nonsense"],
        ["hooks", "nonsense"],
    ],
)
def test_mistakes_and_help_are_left_to_typer(argv: list[str]) -> None:
    """The light parser never guesses: what it does not understand it does not run."""
    command = find_command(with_default(argv))
    assert command is None or parse(command[0], command[1]) is None


def test_group_alone_runs_its_default() -> None:
    """`memx config --json` is `memx config list --json`."""
    assert with_default(["config", "--json"]) == ["config", "list", "--json"]
    assert with_default(["hooks"]) == ["hooks", "status"]
    assert with_default(["config", "get", "x"]) == ["config", "get", "x"]


@pytest.mark.parametrize(("group", "command"), COMMANDS, ids=NAMES)
def test_every_command_and_parameter_has_help(group: str, command: Command) -> None:
    """Nothing that a user can type is without an explanation."""
    assert command.help.endswith((".", ";")), (group, command.name)
    assert all(parameter.help for parameter in command.parameters)


@given(st.lists(st.text(max_size=8), max_size=6))
def test_any_words_never_raise(words: list[str]) -> None:
    """Whatever is typed, parsing answers with values or with None."""
    for command in (
        dict(zip(NAMES, (c for _, c in COMMANDS), strict=True))[name] for name in ("search", "add")
    ):
        parse(command, words)
