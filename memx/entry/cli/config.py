"""`memx config`: every key, its value, and where that came from."""

from __future__ import annotations

import os

from memx.entry.cli.command import Command, argument, flag
from memx.errors import EXIT_OK, ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.entry.cli.invocation import Invocation


def run_list(invocation: Invocation) -> int:
    """Print every key with its value and origin."""
    from memx.app.documents import problem_documents
    from memx.config import iter_keys

    loaded = invocation.project.loaded_config
    origins = dict(loaded.origins)
    values = dict(iter_keys(loaded.config))
    document = {
        "config": {key: _plain(value) for key, value in values.items()},
        "origins": origins,
        "problems": problem_documents(loaded.problems),
    }
    width = max(map(len, values))
    lines = (
        f"{key:<{width}}  {_text(value)}" + (f"  ({origins[key]})" if key in origins else "")
        for key, value in values.items()
    )
    invocation.emit(document, lines)
    invocation.problems(loaded.problems)
    return EXIT_OK


def run_get(invocation: Invocation, *, key: str) -> int:
    """Print the value of one key."""
    from memx.config import iter_keys

    values = dict(iter_keys(invocation.project.config))
    if key not in values:
        raise ConfigError(f"unknown key {key}", hint="memx config list")
    invocation.emit({"key": key, "value": _plain(values[key])}, [_text(values[key])])
    return EXIT_OK


def run_set(invocation: Invocation, *, key: str, value: str, team: bool, user: bool) -> int:
    """Change one key for this clone, or with --user or --team."""
    from memx.app.places import user_dir
    from memx.config import set_key

    project = invocation.project
    if team and os.path.islink(project.store_root):
        raise project.no_store()
    folder = project.store_root if team else project.state_dir
    if user:
        folder = user_dir("config", invocation.environ)
    path = os.path.join(folder, "config.yml")
    try:
        with open(path, encoding="utf-8") as stream:
            before = stream.read()
    except FileNotFoundError:
        before = ""
    try:
        after = set_key(before, key, value)
    except ConfigError as error:
        error.path = path
        raise
    os.makedirs(folder, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as stream:
        stream.write(after)
    os.replace(temporary, path)
    invocation.emit({"key": key, "value": value, "path": path}, [])
    return EXIT_OK


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "(none)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if value != "" else "(none)"


_KEY = argument("key", "A key such as generator.max_results.")

COMMANDS = (
    Command("list", "Print every key with its value and where that came from.", run_list),
    Command("get", "Print the value of one key.", run_get, (_KEY,)),
    Command(
        "set",
        "Change one key, for this clone unless told otherwise.",
        run_set,
        (
            _KEY,
            argument("value", "The value; commas separate the items of a list.", is_stored=True),
            flag("team", "In the committed .memx/config.yml."),
            flag("user", "In the user's own configuration."),
        ),
    ),
)
