"""A long list handled by two processes, where the system can fork and has a second core.

Reading 100,000 files, or asking for their stats, is Python work from end to end, so
threads do not help, and a pool costs more to start than a short list takes.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Item = TypeVar("Item")
    Value = TypeVar("Value")

WORTH_A_PROCESS = 20_000
_CHUNK_BYTES = 1 << 20


def in_halves(read: Callable[[list[Item]], list[Value]], items: list[Item]) -> list[Value]:
    """Return `read(items)`, which must hold plain values only; a child that fails costs time and nothing else."""
    if len(items) < WORTH_A_PROCESS or not _can_fork():
        return read(items)
    middle = len(items) // 2
    pipe, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(pipe)
        os.close(writing)
        return read(items)
    if child == 0:
        _answer(read, items[middle:], writing)
    os.close(writing)
    try:
        first = read(items[:middle])
    except BaseException:
        os.close(pipe)
        os.waitpid(child, 0)
        raise
    answer = _take(pipe)
    _, status = os.waitpid(child, 0)
    second: list[Value] = marshal.loads(answer) if status == 0 else read(items[middle:])  # noqa: S302 (our own child's)
    return first + second


def _can_fork() -> bool:
    """Say whether a fork is safe and of use: other threads might hold locks that the child would wait for."""
    threading = sys.modules.get("threading")
    has_cores = len(os.sched_getaffinity(0)) > 1 if hasattr(os, "sched_getaffinity") else False
    return has_cores and (threading is None or threading.active_count() == 1)


def _answer(read: Callable[[list[Item]], list[Value]], items: list[Item], writing: int) -> None:
    """Write the values and end at once, whatever happens: the parent's buffers and handlers are not the child's."""
    status = 1
    try:
        with os.fdopen(writing, "wb") as stream:
            stream.write(marshal.dumps(read(items)))
        status = 0
    finally:
        os._exit(status)


def _take(pipe: int) -> bytes:
    chunks = []
    while chunk := os.read(pipe, _CHUNK_BYTES):
        chunks.append(chunk)
    os.close(pipe)
    return b"".join(chunks)
