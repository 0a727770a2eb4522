"""Tool calls of a session with their outcome: what failed in earnest, what was only agent mechanics or navigation."""

from __future__ import annotations

import re

from memx.record import record
from memx.reflector.pattern import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.model import Event

_ERROR_LINE = pattern(
    r"(?:\b\w*(?:Error|Exception)\b|\berror\b|\bfatal\b|\bfailed\b|\bFAIL\b|\bpanicked\b|\bdenied\b"
    r"|\brejected\b|\brefused\b"
    r"|\bnot found\b|\bnot recognized\b|\bcannot\b|\bcould not\b|\bunable to\b|\bduplicate\b"
    r"|未找到|找不到|不是内部|失败|错误|見つかりません|失敗|エラー|no encontrad[ao]|no se (?:encontró|reconoce|pudo)"
    r"|\btimed? ?out\b|\binvalid\b|\bno such\b|HTTP/[\d.]+ [45]\d\d|\bERR\b|no project)",
    re.IGNORECASE,
)
_NAMED_ERROR = pattern(
    r"\b\w+(?:Error|Exception)\b\s*[:(]|\b[A-Z]{1,5}\d{3,5}\b|\bcode [A-Z]{3,}|\bE[A-Z]{4,}\b"
)
_REFUSED = pattern(
    r"HTTP/[\d.]+ [45]\d\d|^An error occurred|^(?:Error|fatal|ERROR|error)[:\[ ]|\w+Error: ", re.MULTILINE
)
_EXIT_MISSING = 127
_MISSING = pattern(
    r"\bcommand not found\b|\bis not recognized\b|CommandNotFoundException|"
    r"^\S*sh: (?:\d+: )?\S+: not found\b|未找到命令|找不到命令"
    r"|不是内部或外部命令|コマンドが見つかりません|内部コマンドまたは外部コマンド"
    r"|(?:orden|comando|instrucción) no encontrad[ao]|no se encontró la orden|no se reconoce",
    re.IGNORECASE | re.MULTILINE,
)
_MECHANICS = pattern(
    r"has not been read|read it first|file has been modified|apply_patch|verification failed"
    r"|search.{0,9}block|did not match|string to replace"
    r"|user (?:rejected|doesn.t want)|cancelled|interrupted|write_stdin|unknown session|sibling"
    r"|path does not exist|too large|denied by policy"
    r"|ratelimit|rate limit|overloaded|apiconnection|edit format|command timed out after|timed out after \d+ milli",
    re.IGNORECASE,
)
NAVIGATION = frozenset(
    {
        "rg",
        "grep",
        "egrep",
        "fgrep",
        "ag",
        "ack",
        "ls",
        "dir",
        "cat",
        "head",
        "tail",
        "less",
        "more",
        "find",
        "fd",
        "sed",
        "awk",
        "wc",
        "pwd",
        "cd",
        "tree",
        "stat",
        "file",
        "which",
        "where",
        "type",
        "echo",
        "printf",
        "sleep",
        "date",
        "whoami",
        "env",
        "ps",
        "ss",
        "lsof",
        "df",
        "du",
        "test",
        "[",
        "true",
        "jq",
        "sort",
        "uniq",
        "cut",
        "tr",
        "diff",
        "clear",
        "history",
        "get-childitem",
        "get-content",
        "select-string",
    }
)
"""Programs that only look."""
_LOOKING = frozenset(
    (
        *("status", "log", "logs", "diff", "show", "blame", "grep", "ls", "list", "view", "get", "describe"),
        *(
            "inspect",
            "info",
            "version",
            "help",
            "search",
            "ps",
            "top",
            "watch",
            "checks",
            "whoami",
            "history",
        ),
        *("reflog", "shortlog", "ls-files", "ls-remote", "ls-tree", "rev-parse", "rev-list", "cat-file"),
        *("images", "events", "api", "outdated", "why"),
    )
)
"""Commands of programs with many that only look, or watch until something is done."""
_GROUPS = frozenset(
    (
        *("pr", "issue", "run", "release", "repo", "workflow", "ci", "mr", "compose", "container", "image"),
        *("network", "volume", "service", "stack", "state", "rollout", "context", "pod", "stash", "worktree"),
    )
)
"""Words that only say of what kind the thing is that the next word looks at."""
_VALUED = frozenset(
    ("-C", "-c", "-R", "--repo", "--git-dir", "--work-tree", "-n", "--namespace", "-f", "--file")
)
"""Options before a program's command that take the next word."""
_TOKEN = pattern(r"\"[^\"]*\"|'[^']*'|\S+")
_ASSIGNMENT = pattern(r"^[A-Za-z_]\w*=\S*$")
_WRAPPERS = frozenset(
    ["sudo", "time", "env", "npx", "bunx", "exec", "nice", "nohup", "command", "xargs", "winpty"]
)
_EDITS = pattern(
    r"<<|\b(?:sed|gsed|perl|ruby)\b[^|;&\n]*\s-\w*i|\b(?:tee|patch|ed|ex)\s|\bgit (?:apply|am)\b|\bapply_patch\b"
    r"|(?<![\d&<>=-])>{1,2}\s*(?![&>]|/dev/|\s)"
)
_STEP = pattern(r"\s*(?:&&|\|\||;|\n)\s*")
_PIPE = pattern(r"\s*(?:&&|\|\|?|;|\n)\s*")


@record
class Call:
    """A tool call with its result; `failed` is set only for a failure that can teach something."""

    action: str
    command: str
    path: str
    result: str
    failed: bool
    succeeded: bool
    error: str
    at: int
    """Position among the session's events."""
    key: str = ""
    time: float | None = None
    missing: bool = False
    """Whether it failed because the shell knows no such program."""


def error_line(result: str, limit: int = 160) -> str:
    """Return the line that says best what went wrong: a named error, else the first that speaks of failure."""
    lines = [line.strip(" >|") for line in result.splitlines()[:60] if line.strip()]
    named = [line for line in lines if _NAMED_ERROR.search(line)]
    failing = [line for line in lines if _ERROR_LINE.search(line)]
    chosen: str = (named[:1] or failing[:1] or lines[:1] or [""])[0]
    plain: str = re.sub(r"^E\s{2,}|^\[ERROR\]\s*", "", chosen)
    return plain[:limit].strip()


def head_of(step: str) -> str:
    """Return the program of one command step, without wrappers and assignments."""
    for token in map(str, _TOKEN.findall(step)):
        if not _ASSIGNMENT.match(token) and token not in _WRAPPERS and not token.startswith("-"):
            return token.rsplit("/", 1)[-1].strip("\"'").lower()
    return ""


def is_edit(call: Call) -> bool:
    """Tell whether a call changed a file: by an editing tool, or in a shell by a stream editor or a redirection."""
    return call.action == "edit" or (call.action == "shell" and bool(_EDITS.search(call.command)))


def is_looking(step: str) -> bool:
    """Tell whether a command step only looks at something: navigation, or a listing, status or log of any program."""
    if head_of(step) in NAVIGATION:
        return True
    words = commands_of(step)
    while words and words[0] in _GROUPS:
        del words[0]
    return bool(words) and words[0] in _LOOKING


def commands_of(step: str) -> list[str]:
    """Return the words behind a program that are neither options nor their values: `compose`, `exec` and so on."""
    words = [token for token in map(str, _TOKEN.findall(step)) if not _ASSIGNMENT.match(token)]
    while words and (words[0] in _WRAPPERS or words[0].startswith("-")):
        del words[0]
    found: list[str] = []
    is_value = False
    for word in words[1:]:
        if not is_value and not word.startswith("-"):
            found.append(word)
        is_value = word in _VALUED
    return found


def steps_of(command: str) -> list[str]:
    """Cut a command line into steps joined by `&&`, `||`, `;` or lines."""
    return [step for step in _STEP.split(command.strip()) if step]


def pair_calls(events: Sequence[Event]) -> list[Call]:
    """Join calls to their results by call id, else by the next result."""
    results: dict[str, Event] = {}
    for event in events:
        if event.kind == "result" and event.call_id:
            results[event.call_id] = event
    calls = []
    for at, event in enumerate(events):
        if event.kind != "call":
            continue
        result = results.get(event.call_id) if event.call_id else None
        if result is None and at + 1 < len(events) and events[at + 1].kind == "result":
            result = events[at + 1]
        calls.append(_judge(event, result, at))
    return calls


def quoted_error(text: str) -> str:
    """Return the line of a person's report that names an error, '' when none does."""
    lines = [line for line in text.splitlines() if _NAMED_ERROR.search(line) or _ERROR_LINE.search(line)]
    pasted = [line for line in lines if _NAMED_ERROR.search(line)] or lines[1:]
    if pasted:
        return error_line(pasted[0])
    found = re.search(r"[\"“「«]([^\"”」»\n]{12,200})[\"”」»]", text)
    return str(found[1]) if found and _ERROR_LINE.search(found[1]) else ""


def _judge(event: Event, result: Event | None, at: int) -> Call:
    text = result.text if result else ""
    bad = result is not None and (result.is_error is True or result.exit_code not in (None, 0))
    unflagged = bool(_REFUSED.search(text[:400])) and event.action == "shell"
    error = error_line(text) if bad or unflagged else ""
    parts = [part for part in _PIPE.split(event.text.strip()) if part]
    idle = bool(parts) and all(map(is_looking, parts))
    failed = bool(error) and event.action == "shell" and not idle and not _MECHANICS.search(text[:600])
    is_missing = result is not None and result.exit_code == _EXIT_MISSING
    return Call(
        action=event.action,
        command=event.text,
        path=event.path,
        result=text,
        failed=failed,
        succeeded=result is not None and not bad and not unflagged,
        error=error,
        at=at,
        key=event.key,
        time=event.time if result is None or result.time is None else result.time,
        missing=failed and (is_missing or bool(_MISSING.search(text[:600]))),
    )
