"""What of a bullet is embedded, and the key under which its vector is kept."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash as Hash
    from typing import Protocol

    class Titled(Protocol):
        """A bullet, in whatever form."""

        @property
        def title(self) -> str:
            """Its heading, empty when it has none."""
            ...

        @property
        def text(self) -> str:
            """Its body."""
            ...


KEY_BYTES = 16


def embedding_text(bullet: Titled) -> str:
    """Return the text that stands for a bullet in the dense index: its title, if any, and its body."""
    return f"{bullet.title}\n{bullet.text}" if bullet.title else bullet.text


def embedding_key(text: str, sha256: Callable[[bytes], Hash] | None = None) -> bytes:
    """Return the first 16 bytes of the SHA-256 of the embedded text; who hashes thousands brings a quick `sha256`."""
    if sha256 is None:
        from memx.digest import sha256 as plain

        sha256 = plain
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


def clean_text(text: str) -> str:
    """Return `text` with every lone surrogate replaced, so that any library can encode it."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
