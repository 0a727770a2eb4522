"""What a tool call does, in words that do not depend on the tool.

A call becomes text: the command for a shell, `path` and `-`/`+` lines for an
edit, compact JSON for anything else.
"""

from __future__ import annotations

import json
import re
import shlex

from memx.record import record
from memx.transcripts import clean

SHELL, EDIT, READ, SEARCH, FETCH, OTHER = "shell", "edit", "read", "search", "fetch", "other"

_ACTIONS = {
    SHELL: (
        "bash shell shell_command exec_command run_shell_command execute_command local_shell local_shell_call"
        " powershell pwsh terminal run_terminal_cmd run_command run_in_terminal execute_bash container.exec"
        " run_python python execute_python run_code ipython sh command user_shell"
    ),
    EDIT: (
        "edit multiedit write notebookedit apply_patch replace write_file write_to_file"
        " replace_in_file apply_diff"
        " insert_content search_and_replace str_replace_editor str_replace str_replace_based_edit_tool create"
        " edit_file create_file patch search_replace insert_edit_into_file replace_string_in_file new_file"
    ),
    READ: (
        "read read_file view read_many_files view_image notebookread open ls list_directory"
        " list_files list_dir"
        " cat list get_file"
    ),
    SEARCH: (
        "grep glob search_files rg codebase_search search_file_content grep_search file_search find"
        " list_code_definition_names search search_code"
    ),
    FETCH: "webfetch websearch web_fetch web_search google_web_search fetch fetch_url browser_action browser",
}
_ACTION_OF = {name: action for action, names in _ACTIONS.items() for name in names.split()}

_COMMAND_KEYS = ("command", "cmd", "script", "code", "commands")
_PATH_KEYS = (
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "absolutePath",
    "file",
    "notebook_path",
    "filename",
)
_OLD_KEYS = ("old_string", "oldString", "old_str", "search")
_NEW_KEYS = (
    "new_string",
    "newString",
    "new_str",
    "replace",
    "content",
    "file_text",
    "new_source",
    "contents",
)
_PATCH_KEYS = ("patch", "diff", "input", "patchText", "changes")
_SHELLS = re.compile(
    r"(?:.*[/\\])?(?:ba|z|da|fi|k)?sh(?:\.exe)?$|(?:.*[/\\])?(?:pwsh|powershell|cmd)(?:\.exe)?$",
    re.IGNORECASE,
)
_SCRIPT_FLAGS = re.compile(r"-[a-z]*c$|-command$|/c$", re.IGNORECASE)
_PATCHED_FILE = re.compile(r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)(\S.*)$", re.MULTILINE)
_SEARCH_BLOCK = re.compile(r"^(?:-{7} SEARCH|<{7} SEARCH)", re.MULTILINE)
_ARGUMENT_CHARS = 300
_ARGUMENTS_SHOWN = 20


@record
class CallText:
    """A call as text."""

    action: str
    text: str
    path: str


def action_of(name: str) -> str:
    """Return shell, edit, read, search, fetch or other; empty for no name."""
    if not name:
        return ""
    short = name.lower()
    return _ACTION_OF.get(short) or _ACTION_OF.get(short.rsplit("__", 1)[-1]) or OTHER


def describe_call(name: str, arguments: object, limit: int) -> CallText:
    """Return action, text (at most about `limit` characters) and file of a call; never raises."""
    action = action_of(name)
    values = _arguments(arguments)
    if isinstance(values, str):
        return CallText(action, _bounded(values, limit), _patched_file(values) if action == EDIT else "")
    if action == SHELL:
        command = _command(values)
        if command.startswith("*** Begin Patch"):
            return CallText(EDIT, _bounded(command, limit), _patched_file(command))
        return CallText(action, _bounded(command or _compact(values), limit), "")
    path = _first_text(values, _PATH_KEYS)
    if action == EDIT:
        body = _edit_body(values)
        path = path or _patched_file(body)
        return CallText(action, _bounded(f"{path}\n{body}" if path else body, limit), clean.label(path))
    return CallText(action, _bounded(_compact(values), limit), clean.label(path))


def _arguments(arguments: object) -> dict[str, object] | str:
    if isinstance(arguments, str):
        if not arguments.lstrip().startswith("{"):
            return arguments
        try:
            arguments = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            return str(arguments)
    return arguments if isinstance(arguments, dict) else _compact(arguments)


def _bounded(text: str, limit: int) -> str:
    # Twice the limit first, so that cleaning does not walk through a whole file that was written.
    return clean.cut(clean.printable(clean.cut(text, limit * 2)).strip(), limit)


def _command(values: dict[str, object]) -> str:
    for key in _COMMAND_KEYS:
        value = values.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value:
            return _join([word for word in value if isinstance(word, str)])
    return ""


def _join(words: list[str]) -> str:
    """Return the command line of an argument list, without the shell that only carries it."""
    if not words:
        return ""
    if words[0] == "apply_patch" and len(words) > 1:
        return words[1]
    if _SHELLS.match(words[0]):
        for place, word in enumerate(words[1:-1], 1):
            if _SCRIPT_FLAGS.match(word):
                return " ".join(words[place + 1 :])
    return shlex.join(words)


def _edit_body(values: dict[str, object]) -> str:
    patch = _first_text(values, _PATCH_KEYS)
    if patch:
        return _signed(patch) if _SEARCH_BLOCK.search(patch) else patch
    edits = values.get("edits")
    pieces = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else [values]
    lines: list[str] = []
    for piece in pieces:
        lines += [f"-{line}" for line in _first_text(piece, _OLD_KEYS).split("\n") if line]
        lines += [f"+{line}" for line in _first_text(piece, _NEW_KEYS).split("\n") if line]
    return "\n".join(lines)


def _signed(blocks: str) -> str:
    """Return SEARCH/REPLACE blocks as `-` and `+` lines."""
    lines: list[str] = []
    sign = ""
    for line in blocks.split("\n"):
        if _SEARCH_BLOCK.match(line):
            sign = "-"
        elif sign and line.startswith("======="):
            sign = "+"
        elif line.startswith(("+++++++ REPLACE", ">>>>>>> REPLACE")):
            sign = ""
        elif sign:
            lines.append(f"{sign}{line}")
    return "\n".join(lines)


def _first_text(values: dict[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _patched_file(patch: str) -> str:
    found = _PATCHED_FILE.search(patch[:4000])
    return clean.label(found[1].strip()) if found else ""


def _compact(values: object) -> str:
    if isinstance(values, dict):
        values = {
            key: value[:_ARGUMENT_CHARS] if isinstance(value, str) else value
            for key, value in list(values.items())[:_ARGUMENTS_SHOWN]
        }
    try:
        return json.dumps(values, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""
