"""Text of a log made fit for rules: bounded, printable, without what no person and no tool said.

Every function is total: any string goes in, a string without lone surrogates,
control characters and terminal escapes comes out.
"""

from __future__ import annotations

import math
import re

from memx.timestamp import parse_time

LABEL_CHARS = 400
# Regular expressions see at most this much of one text, whatever its length.
SCANNED_CHARS = 64_000
OMITTED = "\n[…]\n"

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-Za-z]|[@-Z\\-_=>])")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{2000,}+={0,2}")
_DATA_URL = re.compile(r"data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=_-]*")
_BLANK_LINES = re.compile(r"\n{3,}")

# What a tool adds around the words of people and tools; the tags' bodies are its own.
_INJECTED_TAGS = (
    "system-reminder",
    "environment_details",
    "environment_context",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "post-tool-use-hook",
    "user-prompt-submit-hook",
    "user_instructions",
    "current_datetime",
    "reminder",
    "file_content",
    "additional_data",
    "attached_files",
    "attachments",
    "editorContext",
    "reminderInstructions",
    "persisted-output",
    "final_file_content",
    "thinking",
    "think",
)
_INJECTED = re.compile(
    r"<(?P<tag>" + "|".join(_INJECTED_TAGS) + r")(?:\s[^<>]{0,300})?>.*?(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
_HIDDEN_THOUGHT = re.compile(
    r"<thinking-content-(?P<id>[0-9a-f]{4,64})>.*?(?:</thinking-content-(?P=id)>|\Z)", re.DOTALL
)
_REFERENCED_FILES = re.compile(
    r"\n?-{3} Content from referenced files -{3}.*?(?:-{3} End of content -{3}|\Z)", re.DOTALL
)
_IDE_CONTEXT = re.compile(
    r"\A\s*# Context from my IDE setup:.*?^## My request for Codex:[ \t]*\n?", re.DOTALL | re.MULTILINE
)
_TASK_PROGRESS = re.compile(r"^# task_progress\b.*\Z", re.DOTALL | re.MULTILINE)
_PERSON_TAGS = re.compile(r"</?(?:task|feedback|user_message|answer|user_query|userRequest|prompt)>")

_NOT_A_PERSON = re.compile(
    r"(?:<command-(?:name|message|args)>|<local-command-|<bash-(?:input|stdout|stderr)>|<task-notification>"
    r"|Caveat: The messages below were|\[Request interrupted by user|<permissions|<turn_aborted>"
    r"|<INSTRUCTIONS>"
    r"|# AGENTS\.md instructions|<skill>|<user_shell_command>|<collaboration_mode>|<subagent_notification>"
    r"|Base directory for this skill:|This session is being continued from a previous conversation"
    r"|\[TASK RESUMPTION\]|\[ERROR\] You did not use a tool|\[redacted:)"
)


def label(value: object) -> str:
    """Return a short one-line name (id, path, branch) of what should be text, else an empty string."""
    if not isinstance(value, str):
        return ""
    text = value[:LABEL_CHARS]
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("", _SURROGATE.sub("\ufffd", text)).replace("\n", " ").replace("\t", " ")


def moment(value: object) -> float | None:
    """Return seconds since the epoch of RFC 3339 text, or of a number in seconds or milliseconds."""
    if isinstance(value, str):
        try:
            return parse_time(value)
        except ValueError:
            return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Later than the year 5138 in seconds, so it must be milliseconds.
        try:
            seconds = float(value) / (1000.0 if abs(value) > 1e11 else 1.0)  # noqa: PLR2004
        except OverflowError:
            return None
        return seconds if math.isfinite(seconds) else None
    return None


def printable(text: str) -> str:
    """Return the text without terminal escapes, control characters and lone surrogates."""
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def cut(text: str, limit: int) -> str:
    """Return head and tail of a text longer than `limit` characters, whole lines where they are short."""
    if len(text) <= limit:
        return text
    half = max((limit - len(OMITTED)) // 2, 1)
    head, tail = text[:half], text[-half:]
    line_end = head.rfind("\n")
    if line_end > half * 3 // 4:
        head = head[:line_end]
    line_start = tail.find("\n")
    if 0 <= line_start < half // 4:
        tail = tail[line_start + 1 :]
    return f"{head}{OMITTED}{tail}"


def _without_injected(text: str) -> str:
    if "base64," in text:
        text = _DATA_URL.sub("[base64]", text)
    if len(text) > 2000:  # noqa: PLR2004 (the shortest run that counts as base64)
        text = _BASE64.sub("[base64]", text)
    if "<" in text:
        text = _HIDDEN_THOUGHT.sub("", _INJECTED.sub("", text))
    if "--- Content from referenced files" in text:
        text = _REFERENCED_FILES.sub("", text)
    return text


def _scan(text: str) -> str:
    if len(text) <= SCANNED_CHARS:
        return _without_injected(printable(text))
    # The halves are cleaned apart: a tag left open by the cut must not swallow the tail.
    half = SCANNED_CHARS // 2
    head, tail = _without_injected(printable(text[:half])), _without_injected(printable(text[-half:]))
    return f"{head}{OMITTED}{tail}"


def prose(text: str, limit: int) -> str:
    """Return what an agent said, bounded."""
    return cut(_BLANK_LINES.sub("\n\n", _scan(text)).strip(), limit)


def user_text(text: str, limit: int) -> str:
    """Return what a person said; empty when the turn only holds what the tool put there."""
    if _NOT_A_PERSON.match(text.lstrip()[:200]):
        return ""
    said = _scan(text)
    if "My request for Codex" in said:
        said = _IDE_CONTEXT.sub("", said)
    if "# task_progress" in said:
        said = _TASK_PROGRESS.sub("", said)
    said = _PERSON_TAGS.sub("", said).strip()
    if _NOT_A_PERSON.match(said):
        return ""
    return cut(_BLANK_LINES.sub("\n\n", said), limit)


def result(text: str, limit: int) -> str:
    """Return what a tool answered: head and tail, without what the agent's program appended."""
    return cut(_scan(text).strip("\n"), limit)
