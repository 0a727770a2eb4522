"""How a command is declared: once, as data, whichever way it is parsed.

The light parser below serves every correct call without importing typer
(45 ms); help, completion and mistakes go to the typer application that
`typer_app` builds from the same declarations.
"""

from __future__ import annotations

from memx.errors import UsageError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEXT, INTEGER, NUMBER, FLAG = "text", "integer", "number", "flag"

NEVER_EMPTY = frozenset(("path", "rev", "scope", "section", "store", "tag", "type", "workspace"))
"""Options that choose among bullets: an empty value, as of a variable that is not set, chooses none of them."""
REPEATED = "repeated"
"""Key of the flag that was given twice with different texts although it takes one."""
_LAST_WINS = frozenset(("directory", "now"))


@record
class Parameter:
    """An option (with `flags`) or an argument (without); `name` is also the Python parameter's name.

    many: an option may be repeated, an argument takes the rest; the value is a tuple then.
    is_stored: the value is written down, so it must be whole UTF-8.
    """

    name: str
    help: str = ""
    flags: tuple[str, ...] = ()
    kind: str = TEXT
    default: object = None
    required: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()
    metavar: str = ""
    is_stored: bool = False


@record
class Command:
    """A command line's words, its help, its parameters and the function behind them.

    `run(invocation, **values) -> int` returns the exit code.
    """

    name: str
    help: str
    run: Callable[..., int]
    parameters: tuple[Parameter, ...] = ()
    hidden: bool = False


def option(name: str, help: str, *, short: str = "", **rest: object) -> Parameter:  # noqa: A002 (the field's name)
    """Declare an option; its long flag is the name in kebab case."""
    flags = ("--" + name.rstrip("_").replace("_", "-"), *([short] if short else []))
    return Parameter(name, help, flags, **rest)  # type: ignore[arg-type]


def flag(name: str, help: str, *, short: str = "") -> Parameter:  # noqa: A002 (the field's name)
    """Declare a boolean option that is off by default."""
    return option(name, help, short=short, kind=FLAG, default=False)


def argument(name: str, help: str, *, required: bool = True, many: bool = False, **rest: object) -> Parameter:  # noqa: A002
    """Declare a positional argument."""
    return Parameter(name, help, (), TEXT, () if many else None, required, many, **rest)  # type: ignore[arg-type]


BULLET = argument("bullet", "An id, a unique prefix of one, or a path.")
VIEW = (option("scope", "Look from this scope."), option("workspace", "Look from this workspace."))
"""Who looks: every command that reads bullets shows what can be seen from there."""
"""How a person names one bullet."""

SHARED = (
    flag("json", "Print one JSON document on standard output."),
    flag("quiet", "Print no notices on standard error, only errors and broken files.", short="-q"),
    Parameter("directory", "Run as if started in DIR.", ("-C",), metavar="DIR"),
    option("now", "Take DATE as the clock (also MEMX_NOW).", metavar="DATE"),
)
"""Options that every command has, before or after its name."""


def _flag_table(parameters: Sequence[Parameter]) -> dict[str, Parameter]:
    return {text: parameter for parameter in parameters for text in parameter.flags}


def split_shared(argv: Sequence[str]) -> tuple[dict[str, object], list[str]] | None:
    """Take the shared options off the front; None when something is not understood."""
    table = _flag_table(SHARED)
    values: dict[str, object] = {}
    rest = list(argv)
    while rest and rest[0].startswith("-"):
        taken = _take(rest, table, values)
        if not taken:
            return None
    return values, rest


def parse(command: Command, argv: Sequence[str]) -> dict[str, object] | None:
    """Return the values of a correct call, or None when typer must speak (help, a mistake).

    `--` ends the options; `--flag=value`, `-n5` and `-n 5` are understood.
    """
    table = _flag_table((*command.parameters, *SHARED))
    values: dict[str, object] = {}
    words: list[str] = []
    rest = list(argv)
    while rest:
        if rest[0] == "--":
            words += rest[1:]
            break
        if rest[0].startswith("-") and rest[0] != "-":
            if not _take(rest, table, values):
                return None
        else:
            words.append(rest.pop(0))
    return values if _place(command, words, values) else None


def _place(command: Command, words: list[str], values: dict[str, object]) -> bool:
    """Give the positional words to the arguments and fill in defaults."""
    for parameter in command.parameters:
        if parameter.flags:
            default = () if parameter.many else parameter.default
            if parameter.required and parameter.name not in values:
                return False
            values.setdefault(parameter.name, default)
        elif parameter.many:
            values[parameter.name] = tuple(words)
            if parameter.required and not words:
                return False
            words = []
        elif words:
            values[parameter.name] = words.pop(0)
        elif parameter.required:
            return False
        else:
            values[parameter.name] = parameter.default
    return not words


def _take(rest: list[str], table: dict[str, Parameter], values: dict[str, object]) -> bool:
    """Consume one option and its value from `rest`; False when it is not understood."""
    word = rest[0]
    name, equals, inline = word.partition("=")
    if not word.startswith("--") and len(word) > 2:  # noqa: PLR2004 (a dash, a letter, and an attached value)
        name, equals, inline = word[:2], "=", word[2:]
    parameter = table.get(name)
    if parameter is None:
        return False
    if parameter.kind == FLAG:
        if equals:
            return False
        values[parameter.name] = True
        del rest[0]
        return True
    if not equals and len(rest) < 2:  # noqa: PLR2004 (the flag and its value)
        return False
    raw = inline if equals else rest[1]
    del rest[: 1 if equals else 2]
    value = _convert(parameter, raw)
    if value is None:
        return False
    is_text = parameter.kind == TEXT and not parameter.choices and parameter.name not in _LAST_WINS
    if parameter.many:
        values[parameter.name] = (*values.get(parameter.name, ()), value)  # type: ignore[misc]
    else:
        if is_text and values.get(parameter.name, value) != value:
            values[REPEATED] = parameter.flags[0]
        values[parameter.name] = value
    return True


def refuse_slips(values: dict[str, object]) -> None:
    """Raise UsageError for an option that is given twice or is empty and would be passed over in silence."""
    repeated = values.pop(REPEATED, None)
    if repeated:
        raise UsageError(f"{repeated} can be given once")
    for name in NEVER_EMPTY.intersection(values):
        value = values[name]
        if value == "" or (isinstance(value, tuple) and "" in value):
            raise UsageError(f"--{name} must not be empty", hint="leave it out, or name one")


def _convert(parameter: Parameter, raw: str) -> object:
    if parameter.choices:
        return raw if raw in parameter.choices else None
    try:
        if parameter.kind == INTEGER:
            return int(raw)
        if parameter.kind == NUMBER:
            return float(raw)
    except ValueError:
        return None
    return raw
