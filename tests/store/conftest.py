"""A store in a temporary folder, with a sanitizer that knows one secret."""

from __future__ import annotations

import pytest

from memx.record import record
from memx.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2secret"


@record
class Redaction:
    """A sanitized text."""

    text: str


@record
class Finding:
    """Where a secret stands."""

    kind: str
    start: int


class OneSecret:
    """A sanitizer at the port of the store: it knows SECRET alone."""

    def sanitize(self, text: str) -> Redaction:
        """Replace the secret."""
        return Redaction(text.replace(SECRET, "[redacted]"))

    def secrets(self, text: str) -> tuple[Finding, ...]:
        """Find the secret."""
        start = text.find(SECRET)
        return () if start < 0 else (Finding("password", start),)


def open_store(folder: str, **options: object) -> Store:
    """Open the store of a folder as another process would."""
    return Store(f"{folder}/.memx", f"{folder}/state", sanitizer=OneSecret(), clock=lambda: 2e9, **options)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return an empty store."""
    return open_store(str(tmp_path))


@pytest.fixture
def put(store: Store) -> None:
    """Return a function that puts bytes at a path of the store, as a person or git would."""
    import os

    def write(path: str, data: bytes) -> str:
        full = os.path.join(store.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)
        return path

    return write
