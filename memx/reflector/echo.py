"""What must never be learnt: memx's own words coming back, and text that gives orders to an agent."""

from __future__ import annotations

import re

from memx.reflector.pattern import pattern

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
    """Remove fenced blocks that a tool injected: memx's own, reminders, environment details."""
    return _FENCES.sub(" ", text) if "<" in text else text


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
