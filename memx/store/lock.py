"""One lock between processes: flock where there is one, msvcrt on Windows.

The system drops the lock when its holder dies, so a stale lock file is harmless
and is never deleted.
"""

from __future__ import annotations

import os
import sys
import time

from memx.errors import LockTimeoutError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

DEFAULT_TIMEOUT_S = 30.0
_FIRST_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.02


class Lock:
    """A lock file that one holder at a time owns; taken again by its owner, it is counted.

    Used as a context manager it waits for `timeout_s` and raises LockTimeoutError.
    """

    __slots__ = ("_depth", "_descriptor", "_path", "_timeout_s")

    def __init__(self, path: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Name the lock file; it and its folder are made when the lock is first taken."""
        self._path = path
        self._timeout_s = timeout_s
        self._descriptor = -1
        self._depth = 0

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it; never wait. Raise StoreError where no file can be made."""
        if self._depth:
            self._depth += 1
            return True
        descriptor = _open(self._path)
        if not _try_lock(descriptor, self._path):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        self._depth = 1
        return True

    def acquire(self, timeout_s: float | None = None) -> None:
        """Wait for the lock; raise LockTimeoutError when it takes longer than the timeout."""
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + timeout_s
        pause_s = _FIRST_PAUSE_S
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                message = f"another memx process has held the lock for {timeout_s:g} seconds"
                raise LockTimeoutError(message, path=self._path, hint="try again when it has finished")
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    def release(self) -> None:
        """Give up one hold; the last one frees the lock."""
        if not self._depth:
            return
        self._depth -= 1
        if self._depth == 0:
            descriptor, self._descriptor = self._descriptor, -1
            _unlock(descriptor)
            os.close(descriptor)

    def __enter__(self) -> Self:
        """Wait for the lock."""
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the lock up."""
        self.release()


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        try:
            return os.open(path, flags, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            return os.open(path, flags, 0o666)
    except OSError as error:
        raise StoreError(f"cannot open the lock file ({error.strerror})", path=path) from error


if sys.platform == "win32":

    def _try_lock(descriptor: int, path: str) -> bool:  # noqa: ARG001 (one signature on both platforms)
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def _try_lock(descriptor: int, path: str) -> bool:
        import fcntl  # absent on Windows

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            os.close(descriptor)
            message = f"the file system does not lock files ({error.strerror})"
            raise StoreError(message, path=path) from error
        return True

    def _unlock(descriptor: int) -> None:
        import fcntl  # absent on Windows

        fcntl.flock(descriptor, fcntl.LOCK_UN)
