"""One lock between processes."""

from __future__ import annotations

import pytest

from memx.errors import LockTimeoutError, StoreError
from memx.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def test_held_lock_is_not_taken_twice(tmp_path: Path) -> None:
    """A second holder gets a refusal at once, or an error after its timeout."""
    path = str(tmp_path / "deep" / "lock")
    with Lock(path):
        other = Lock(path, timeout_s=0.02)
        assert other.try_acquire() is False
        with pytest.raises(LockTimeoutError) as caught, other:
            pass
        assert caught.value.path == path
    assert other.try_acquire() is True
    other.release()


def test_owner_takes_its_lock_again(tmp_path: Path) -> None:
    """Nested holds count, and the last one frees the lock."""
    path = str(tmp_path / "lock")
    lock = Lock(path)
    with lock:
        with lock:
            pass
        assert Lock(path).try_acquire() is False
    free = Lock(path)
    assert free.try_acquire() is True
    free.release()
    free.release()


def test_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    """A file system that refuses is reported with its path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        Lock(str(tmp_path / "file" / "lock")).acquire()
