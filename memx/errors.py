"""The exception tree and the exit codes.

MemxError                   expected failure: the user can act
├── UsageError              the command line is wrong
├── ConfigError             a configuration file or key is wrong
├── StoreError              the store cannot do what was asked
│   ├── FrontMatterError    a bullet file does not parse
│   │   └── ConflictMarkerError  a bullet file still holds git's conflict markers
│   ├── UnsafePathError     a path would leave the store
│   ├── SecretFoundError    a secret where none may be
│   └── LockTimeoutError    another memx holds the store
├── GitError                git failed or is missing
├── IndexUnavailableError   the derived index cannot be opened or built
├── ModelUnavailableError   the embedding model is missing or damaged
├── LlmError                the LLM cannot be asked, or its answer is of no use
├── TranscriptError         a session log cannot be read at all
└── MergeConflictError      two sides changed the same thing
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_EXPECTED = 1
EXIT_USAGE = 2
EXIT_BUG = 3
EXIT_INTERRUPTED = 130


class MemxError(Exception):
    """An expected failure, with its place and what to do next."""

    exit_code = EXIT_EXPECTED

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        path: str | None = None,
        line: int | None = None,
    ) -> None:
        """Keep the parts apart, so that text and JSON can both show them."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.line = line

    def __str__(self) -> str:
        """Return `<what>: <path>:<line>` as one line."""
        place = "" if self.path is None else f": {self.path}"
        if self.path is not None and self.line is not None:
            place += f":{self.line}"
        return f"{self.message}{place}"


class UsageError(MemxError):
    """The command line is wrong."""

    exit_code = EXIT_USAGE


class ConfigError(MemxError):
    """A configuration file or key is wrong."""


class StoreError(MemxError):
    """The store cannot do what was asked."""


class FrontMatterError(StoreError):
    """A bullet file does not parse."""


class ConflictMarkerError(FrontMatterError):
    """A bullet file still holds git's conflict markers."""


class UnsafePathError(StoreError):
    """A path would leave the store."""


class SecretFoundError(StoreError):
    """A secret stands where none may be."""


class LockTimeoutError(StoreError):
    """Another memx process holds the store."""


class GitError(MemxError):
    """Git failed, timed out or is missing; `status` is its exit code when it ran to its end."""

    status: int | None = None


class IndexUnavailableError(MemxError):
    """The derived index can be neither opened nor built."""


class ModelUnavailableError(MemxError):
    """The embedding model is missing or damaged."""


class LlmError(MemxError):
    """The LLM cannot be asked, or its answer is of no use.

    `is_transient`: the same call may succeed later. `is_final`: no further call of this run can succeed.
    """

    is_transient = False
    is_final = False


class TranscriptError(MemxError):
    """A session log cannot be read at all."""


class MergeConflictError(MemxError):
    """Two sides changed the same thing."""
