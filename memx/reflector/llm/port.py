"""The port to an LLM: one prompt in, one text out. An adapter is anything that can do that."""

from __future__ import annotations

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class LLM(Protocol):
        """A model or a command that answers prompts; safe to call from several threads."""

        @property
        def name(self) -> str:
            """What the ledger calls it."""
            ...

        def ask(self, prompt: Prompt, timeout_s: float) -> Answer:
            """Return the answer; raise LlmError, `is_transient` when it is worth another try."""
            ...

    class Asker(Protocol):
        """Asks within limits; what the refining code sees of an LLM."""

        def ask(self, prompt: Prompt) -> Answer:
            """Return an answer; raise LlmError when there is none to be had."""
            ...


@record
class Prompt:
    """What is sent: instructions, data, the JSON schema of the answer, and the version of the instructions."""

    system: str
    text: str
    schema: Mapping[str, object]
    version: str


@record
class Answer:
    """What came back, and its tokens: as the provider counted them, else estimated."""

    text: str
    tokens_in: int
    tokens_out: int
    is_cached: bool = False


def failure(
    message: str, *, transient: bool = False, final: bool = False, hint: str | None = None
) -> Exception:
    """Return an LlmError with its kind."""
    from memx.errors import LlmError

    error = LlmError(message, hint=hint)
    error.is_transient = transient
    error.is_final = final
    return error
