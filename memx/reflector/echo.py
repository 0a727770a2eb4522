"""What must never be learnt: memx's own words coming back, and text that gives orders to an agent."""

from __future__ import annotations

import re

from memx.model import SECTIONS, TYPES
from memx.reflector.pattern import pattern
from memx.store.naming import is_id

_FENCES = pattern(
    r"<(?P<tag>memx[\w-]*|system-reminder|environment_context|environment_details|user_instructions"
    r"|INSTRUCTIONS|persisted-output"
    r"|local-command-\w+|command-\w+|relevant[-_]memor(?:y|ies)|recalled[-_]\w+|memory[-_]context"
    r"|memor(?:y|ies))\b[^>]*>"
    r".*?(?:</(?P=tag)>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_RECALL_CALL = pattern(r"\bmemx\b|\bmcp__memx|\bgit[ -]memx\b", re.IGNORECASE)
_INJECTION = pattern(
    r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|other"
    r"|your)\b.{0,30}\b(?:instruction|prompt|rule|message|direction|guideline)s?"
    r"|\b(?:system|developer) prompt\b|\byou are (?:now|an? (?:ai|assistant|agent|language model))\b"
    r"|\b(?:ai|coding|automated|llm)[ -](?:assistants?|agents?|models?)\b.{0,60}\b(?:must|should"
    r"|have to|need to|are required|shall)\b"
    r"|\b(?:assistants?|agents?) (?:reading|processing|that read)\b"
    r"|\b(?:remember|memori[sz]e|save|store|add)\b.{0,40}\b(?:to|in|into|as) (?:your |the |long-term "
    r"|a )*(?:memory|memories|rule|lesson)\b"
    r"|\bdo not (?:tell|inform|mention|reveal)\b.{0,40}\b(?:user|human|this|anyone)\b"
    r"|curl\s[^|\n]{0,120}\|\s*(?:sudo )?(?:ba|z)?sh\b|wget\s[^|\n]{0,120}\|\s*(?:sudo )?(?:ba|z)?sh\b"
    r"|忽略.{0,12}(?:之前|以上|先前|所有).{0,10}(?:指令|指示|提示|规则)|(?:以前|上記|これまで|すべて)の(?:指示|命令|プロンプト).{0,10}無視"
    r"|ignora.{0,30}(?:instrucciones|indicaciones|reglas)",
    re.IGNORECASE,
)

_ID = r"[a-hj-km-np-tv-z][0-9a-hj-km-np-tv-z]{9}"
"""What an id looks like; `is_id` says whether it is one."""
_VOICE = pattern(r"^(?:[^\w\n]*|[\w.:+ -]{0,40}[|:>\]]\s+|::\w+ [^\n]*title=)memx: .*$")
"""How memx begins what it says, behind what a terminal, a forge or a hook manager puts before it."""
_HINT = pattern(r"^[^\w\n]*hint: ")
_INDENTED = pattern(r"^(?:\s{2,}\S|\s*$)")
_WRAPPED = pattern(r"^[^\w\n]*\w")
_NEVER = pattern(r"(?!)")
_COLUMN = pattern(rf"^[^\w\n]*(?:written |read )?(?P<id>{_ID})\b(?:\s{{2,}}|\s+(?=bullets/))(?P<next>\S+)")
_CLASSES = pattern(rf"\b(?:{'|'.join(SECTIONS)})/(?:{'|'.join(TYPES)})\b")
_SUMMARY = pattern(
    rf"^(?:(?:{'|'.join(SECTIONS)})  \(\d+\)$|\s*\$ (?:git )?memx\s|[#\s]*{_ID}: (?:{'|'.join(SECTIONS)}), )"
)
"""A section with its count, a command of memx with what it printed below, the head of a bullet's facts."""
_FILE = pattern(rf"\bbullets/\S*\b{_ID}\.md\b")
_ID_WORD = pattern(rf"\b{_ID}\b")
_BULLET_ID = pattern(rf"^id: [\"']?{_ID}\b")
_DOCUMENT = pattern(rf"\"id\":\s*\"{_ID}\"")
_DOCUMENT_PART = pattern(r"^\s*(?:\"|[\]\[{}])")
_ID_COLUMN = pattern(rf"  (?=\S)(?<=\b{_ID}  )")
_OUTPUT = pattern(
    rf"\bmemx: |\b{_ID}[\s,][^\n]{{0,40}}bullets/|bullets/\S*\b{_ID}\.md\b"
    rf"|^\w+  \(\d+\)$|\$ (?:git )?memx\s|^id: [\"']?{_ID}\b|\"id\":\s*\"{_ID}\"",
    re.MULTILINE,
)
_OUTPUT_WORDS = ("memx: ", "memx ", "  (", "bullets/", '"id"', "id: ")
"""One of them stands wherever _OUTPUT matches."""
_WRAP = 60
"""Characters from which on an editor may have wrapped a line."""

_ORDER_WORDS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("ignore", "disregard", "forget", "override"),
        ("instruction", "prompt", "rule", "message", "direction", "guideline"),
    ),
    (("prompt", "you are ", "assistant", "agent", "model", "忽略", "無視", "ignora"),),
    (("remember", "memori", "save", "store", "add"), ("memory", "memories", "rule", "lesson")),
    (("do not ",), ("tell", "inform", "mention", "reveal")),
    (("curl", "wget"), ("sh",)),
)
"""Where _INJECTION matches, one line has a word of each of its groups in the text."""


def strip_echo(text: str) -> str:
    """Remove what a tool injected and what memx printed: fenced blocks, its messages, its listings, its bullets."""
    if "<" in text:
        text = _FENCES.sub(" ", text)
    return _without_output(text) if _may_hold_output(text) else text


def _may_hold_output(text: str) -> bool:
    """Tell whether something stands in a text that memx may have printed: cheaply, for nearly no text has any."""
    if "  " in text and _ID_COLUMN.search(text):
        return True
    return any(map(text.__contains__, _OUTPUT_WORDS)) and bool(_OUTPUT.search(text))


def _without_output(text: str) -> str:
    """Drop the lines that memx printed; each has its mark or goes on with one that has."""
    kept: list[str] = []
    lines = iter(text.splitlines())
    goes_on = _NEVER
    for line in lines:
        if _BULLET_ID.match(line) and kept and kept[-1].strip() == "---":
            return "\n".join(kept[:-1])  # a bullet's file: what follows its front matter is the lesson
        if goes_on.match(line):
            if goes_on is _WRAPPED and _is_whole(line):
                goes_on = _HINT
            continue
        voice = _VOICE.match(line)
        if voice:
            goes_on = _HINT if _is_whole(line) else _WRAPPED
        elif _is_head(line):
            goes_on = _INDENTED
        elif _DOCUMENT.search(line):
            goes_on = _DOCUMENT_PART
        else:
            goes_on = _NEVER
            kept.append(line)
    return "\n".join(kept)


def _is_whole(line: str) -> bool:
    """Tell whether a message ends with its line: else an editor has wrapped it."""
    return len(line) < _WRAP or line.rstrip().endswith((".", ")", "!", "。", "…"))


def _is_head(line: str) -> bool:
    """Tell whether a line names a bullet by its id as memx does: first in its column, or with section and type."""
    if _SUMMARY.match(line) or _FILE.search(line):
        return True
    if _CLASSES.search(line) and any(is_id(word) for word in _ID_WORD.findall(line)):
        return True
    column = _COLUMN.match(line)
    if column is None or not is_id(column["id"]):
        return False
    return not column["id"].isalpha() or column["next"].partition("/")[0] in SECTIONS


def is_injection(text: str) -> bool:
    """Tell whether a text gives orders to an agent instead of telling a fact."""
    holds = text.lower().__contains__
    for groups in _ORDER_WORDS:
        for group in groups:
            if not any(map(holds, group)):
                break
        else:
            return bool(_INJECTION.search(text))
    return False


def is_recall(text: str) -> bool:
    """Tell whether a command or a tool's name asks memx for what it already knows."""
    return bool(_RECALL_CALL.search(text))
