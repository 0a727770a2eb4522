"""Where a log's bytes come from: a file or text in memory, read as lines or as one JSON document."""

from __future__ import annotations

import io
import os

from memx.errors import TranscriptError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from memx.transcripts.session import SessionRead

SNIFFED_BYTES = 256 * 1024
_CHUNK_BYTES = 64 * 1024


@record
class Source:
    """A file by path, or `data` when it is not None."""

    path: str
    data: bytes | None = None

    def open(self) -> BinaryIO:
        """Return a binary stream; raises TranscriptError."""
        if self.data is not None:
            return io.BytesIO(self.data)
        try:
            return open(self.path, "rb")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise TranscriptError(f"cannot read session log ({reason})", path=self.path) from error

    def size(self) -> int:
        """Return the number of bytes now; the file may grow."""
        if self.data is not None:
            return len(self.data)
        try:
            return os.stat(self.path).st_size
        except (OSError, ValueError):
            return 0

    def head(self, size: int = SNIFFED_BYTES) -> bytes:
        """Return the first bytes; raises TranscriptError."""
        with self.open() as stream:
            return _read(stream, size, self.path)


@record
class Line:
    """One line: where it starts and ends in the file, its bytes, and whether its newline was there."""

    start: int
    end: int
    data: bytes
    terminated: bool


def read_lines(source: Source, session: SessionRead, offset: int) -> Iterator[Line]:
    """Yield lines from `offset` on; a line over the cap is counted and skipped.

    `session.next_offset` moves past a line once its events were taken. A last
    line without newline is yielded as it is: the caller knows if it is whole.
    """
    cap = session.limits.line_bytes
    with source.open() as stream:
        stream.seek(offset)
        position = offset
        session.next_offset = offset
        while True:
            data = _read_line(stream, cap, source.path)
            if not data:
                return
            start = position
            position += len(data)
            if len(data) >= cap and not data.endswith(b"\n"):
                rest = _skip_line(stream, source.path)
                position += rest
                session.skip("line_too_long")
                session.next_offset = position
                continue
            yield Line(start, position, data, data.endswith(b"\n"))
            session.next_offset = position


def _skip_line(stream: BinaryIO, path: str) -> int:
    skipped = 0
    while piece := _read_line(stream, _CHUNK_BYTES, path):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _read_line(stream: BinaryIO, limit: int, path: str) -> bytes:
    try:
        return stream.readline(limit)
    except OSError as error:
        raise TranscriptError(f"cannot read session log ({error.strerror})", path=path) from error


def _read(stream: BinaryIO, size: int, path: str) -> bytes:
    try:
        return stream.read(size)
    except OSError as error:
        raise TranscriptError(f"cannot read session log ({error.strerror})", path=path) from error


def read_chunks(source: Source) -> Iterator[bytes]:
    """Yield the file in pieces; raises TranscriptError."""
    with source.open() as stream:
        while chunk := _read(stream, _CHUNK_BYTES, source.path):
            yield chunk
