"""What the Markdown formats share: decoded lines, bounded turns, fences."""

from __future__ import annotations

import re

from memx.record import record
from memx.transcripts.source import read_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

TURN_CHARS = 256_000
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)")
SHELL_LANGUAGES = frozenset(
    ["bash", "sh", "shell", "zsh", "console", "powershell", "pwsh", "ps1", "cmd", "terminal"]
)


@record
class TextLine:
    """A line without its newline, and the offset where it starts."""

    start: int
    text: str


@record
class Piece:
    """A run of prose (language None) or the inside of a fence with its language."""

    text: str
    language: str | None = None


def text_lines(source: Source, session: SessionRead, offset: int = 0) -> Iterator[TextLine]:
    """Yield decoded lines; what is not UTF-8 becomes U+FFFD, NULs are dropped."""
    for line in read_lines(source, session, offset):
        text = line.data.decode("utf-8", "replace").replace("\0", "")
        yield TextLine(
            line.start, text.lstrip("\ufeff").rstrip("\r\n") if line.start == 0 else text.rstrip("\r\n")
        )


class Turn:
    """The lines of one turn, bounded: a line that would exceed TURN_CHARS is left out, and `is_cut` says so."""

    def __init__(self, role: str, start: int) -> None:
        """Begin a turn of this role at an offset."""
        self.role = role
        self.start = start
        self.lines: list[str] = []
        self.time: float | None = None
        self.sidechain = False
        self.is_cut = False
        self._size = 0

    def add(self, line: str) -> None:
        """Add a line if there is room for it."""
        if self._size + len(line) + 1 > TURN_CHARS:
            self.is_cut = True
            return
        self._size += len(line) + 1
        self.lines.append(line)

    def report(self, session: SessionRead) -> None:
        """Count the turn among what was left out if it was cut."""
        if self.is_cut:
            session.skip("turn_too_long")


class Fence:
    """Tells, line by line, whether one stands in a fenced block."""

    def __init__(self) -> None:
        """Start outside."""
        self.mark = ""
        self.language = ""

    def feed(self, line: str) -> bool:
        """Take a line; True when it opened or closed a fence."""
        found = _FENCE.match(line)
        if not self.mark:
            if found is None:
                return False
            self.mark, self.language = found[1], found[2].lower()
            return True
        if found and found[1].startswith(self.mark) and not found[2] and line.strip() == found[1]:
            self.mark = ""
            return True
        return False


def pieces(lines: Iterable[str]) -> Iterator[Piece]:
    """Split lines into prose and the insides of fences; an open fence ends with the lines."""
    fence = Fence()
    gathered: list[str] = []
    for line in lines:
        was = fence.mark
        if not fence.feed(line):
            gathered.append(line)
            continue
        text = "\n".join(gathered)
        gathered = []
        if was or text.strip():
            yield Piece(text, fence.language if was else None)
    if gathered:
        yield Piece("\n".join(gathered), fence.language if fence.mark else None)
