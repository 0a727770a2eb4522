"""The typer application: help, completion and messages about mistakes, from the same declarations."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import TYPE_CHECKING, Any

import typer

from memx.entry.cli.command import FLAG, INTEGER, NUMBER, SHARED, TEXT, Command, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TYPES: dict[str, type] = {TEXT: str, INTEGER: int, NUMBER: float, FLAG: bool}
_CONTEXT = {"help_option_names": ["-h", "--help"]}


def build_app(
    commands: Iterable[tuple[str, Command]],
    execute: Callable[[Command, dict[str, object]], int],
    version: str,
    group_help: dict[str, str],
) -> typer.Typer:
    """Build the application; `commands` pairs a group name ("" at the top) with each command."""
    app = typer.Typer(
        name="memx",
        help="A team's memory that lives in its repository.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_CONTEXT,
    )
    app.callback()(_with_signature(_root(version), [_VERSION, *SHARED], with_context=True))
    groups: dict[str, typer.Typer] = {}
    for group, command in commands:
        target = app
        if group:
            if group not in groups:
                groups[group] = typer.Typer(
                    help=group_help.get(group, ""), no_args_is_help=True, rich_markup_mode=None
                )
                app.add_typer(groups[group], name=group, context_settings=_CONTEXT)
            target = groups[group]
        target.command(command.name, help=command.help, hidden=command.hidden, context_settings=_CONTEXT)(
            _with_signature(_runner(command, execute), [*command.parameters, *SHARED], with_context=True)
        )
    return app


_VERSION = Parameter("version", "Print the version and exit.", ("--version", "-V"), FLAG, default=False)


def _root(version: str) -> Callable[..., None]:
    def root(**values: Any) -> None:
        if values.pop("version"):
            typer.echo(f"memx {version}")
            raise typer.Exit
        context = values.pop("context")
        context.obj = {name: value for name, value in values.items() if value not in (None, False)}

    return root


def _runner(command: Command, execute: Callable[[Command, dict[str, object]], int]) -> Callable[..., None]:
    def run(**values: Any) -> None:
        context = values.pop("context")
        shared = context.find_root().obj or {}
        plain = {name: _plain(value) for name, value in values.items()}
        plain = {n: v for n, v in plain.items() if n not in _SHARED_NAMES or v not in (None, False)}
        raise typer.Exit(execute(command, {**shared, **plain}))

    return run


_SHARED_NAMES = {parameter.name for parameter in SHARED}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    return value.value if isinstance(value, Enum) else value


def _with_signature(
    function: Callable[..., None], parameters: Iterable[Parameter], *, with_context: bool = False
) -> Callable[..., None]:
    """Give a function the signature that typer reads its options from."""
    signature = [_signature_parameter(parameter) for parameter in parameters]
    if with_context:
        kind = inspect.Parameter.KEYWORD_ONLY
        signature.append(inspect.Parameter("context", kind, annotation=typer.Context))
    function.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
    return function


def _annotation(parameter: Parameter) -> Any:
    """Return the type that typer converts and checks by."""
    value: Any = _TYPES[parameter.kind]
    if parameter.choices:
        choices: Any = Enum
        value = choices(parameter.name, {choice: choice for choice in parameter.choices}, type=str)
    if parameter.many:
        return list[value]
    return value if parameter.kind == FLAG else value | None


def _signature_parameter(parameter: Parameter) -> inspect.Parameter:
    annotation = _annotation(parameter)
    default: Any = ... if parameter.required else [] if parameter.many else parameter.default
    if parameter.flags:
        info = typer.Option(
            default,
            *parameter.flags,
            help=parameter.help,
            metavar=parameter.metavar or None,
            show_default=parameter.kind != FLAG and default not in (None, []),
        )
    else:
        info = typer.Argument(default, help=parameter.help, metavar=parameter.name.upper())
    return inspect.Parameter(
        parameter.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation
    )
