"""One commit made of several: the messages that git or a forge put together, taken apart again."""

from __future__ import annotations

import re

from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.model import Commit

SQUASH_HEADING = "Squashed commit of the following:\n"
_SQUASH_FIELDS = ("Author: ", "Date: ", "Merge: ", "AuthorDate: ", "Commit: ", "CommitDate: ")
_TEMPLATE = re.compile(
    r"\s*(\S{1,3}) (?:This is a combination of \d+ commits|This is the (?:1st |first )?commit message)"
)
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_ITEM = re.compile(r"[*-] \S.*")
_TRAILERS = re.compile(r"(?:[A-Za-z][A-Za-z-]*: .*(?:\n|$))+")
_RULE = re.compile(r"-{3,}$")
_PULL_REQUEST = re.compile(r"\(#\d+\)$|\(![0-9]+\)$")


def split_squash(commit: Commit) -> list[Commit]:
    """Return one commit for each message that a squash put together, else the commit alone.

    Known are `git merge --squash`, the template of a rebase's `squash`, and the
    lists of messages that forges write. The squash itself comes last with its
    first lines, all files and none of the parts.
    """
    message = commit.message
    if _TEMPLATE.match(message):
        messages, own = split_template(message), ""
    elif SQUASH_HEADING in message:
        messages, own = _split_listing(message)
    else:
        messages, own = _split_items(message)
    if own == message:
        return [commit]
    return [*(replace(commit, message=text, files=()) for text in messages), replace(commit, message=own)]


def split_template(message: str) -> list[str]:
    """Return the messages between the comment lines that a rebase writes; any other message is one."""
    template = _TEMPLATE.match(message)
    if template is None:
        return [message]
    parts: list[list[str]] = [[]]
    for line in message.splitlines():
        if line.startswith(template[1]):
            parts.append([])
        else:
            parts[-1].append(line)
    return [text for lines in parts if (text := "\n".join(lines).strip())]


def paragraphs(message: str) -> list[str]:
    """Return the paragraphs of a message, blanks made equal, without a rebase's comment lines."""
    found = (part for text in split_template(message) for part in _BLANK_LINES.split(text.strip()))
    return [" ".join(part.split()) for part in found if part]


def _split_listing(message: str) -> tuple[list[str], str]:
    """Take git's own listing apart: the messages, and what stands before and behind them."""
    head, _, listed = message.partition(SQUASH_HEADING)
    parts: list[list[str]] = []
    rest: list[str] = []
    for line in listed.splitlines():
        if line.startswith("commit ") and _is_hash_text(line[7:]):
            parts.append([])
        elif line.startswith("    ") or not line:
            (parts[-1] if parts else rest).append(line[4:])
        elif not line.startswith(_SQUASH_FIELDS):
            rest.append(line)
    messages = ["\n".join(lines).strip("\n") for lines in parts]
    own = "\n\n".join(filter(None, (head.strip("\n"), "\n".join(rest).strip("\n"))))
    return messages, own


def _split_items(message: str) -> tuple[list[str], str]:
    """Take a forge's list apart: `* subject` alone in its paragraph, then that commit's paragraphs.

    A list that a person wrote has its items in one paragraph or no text between
    them, so two items with text are needed, or one below the name of a pull request.
    """
    if "\n* " not in message and "\n- " not in message:
        return [], message
    blocks = _BLANK_LINES.split(message.strip())
    parts: list[list[str]] = []
    own: list[str] = []
    for number, block in enumerate(blocks):
        if number and _RULE.match(block):
            own += blocks[number + 1 :]  # who else wrote it
            break
        if number and _ITEM.fullmatch(block):
            parts.append([block[2:]])
        else:
            (parts[-1] if parts else own).append(block)
    told = sum(any(not _TRAILERS.fullmatch(block) for block in part[1:]) for part in parts)
    least = 1 if _PULL_REQUEST.search(blocks[0]) else 2
    if len(parts) < 2 or told < least:  # noqa: PLR2004 (one message is no list)
        return [], message
    return ["\n\n".join(part) for part in parts], "\n\n".join(own)


def _is_hash_text(text: str) -> bool:
    return len(text) in (40, 64) and not set(text) - set("0123456789abcdef")
