"""A model of the `llm` library: any provider that it has a plugin or a configuration for. Its only importer."""

from __future__ import annotations

from memx.reflector.llm.caller import estimated
from memx.reflector.llm.port import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memx.reflector.llm.port import Answer, Prompt

_TRANSIENT = frozenset(("APIConnectionError", "APITimeoutError", "InternalServerError", "RateLimitError"))
_FINAL = frozenset(("AuthenticationError", "PermissionDeniedError", "NotFoundError", "NeedsKeyException"))


class LibraryModel:
    """One model of the library, by the name that `llm models` lists."""

    def __init__(self, name: str) -> None:
        """Find the model; raise LlmError where the library or the model is missing."""
        try:
            import llm
        except ImportError as error:
            hint = "pip install 'git-memx[llm]'"
            raise failure("the library llm is not installed", final=True, hint=hint) from error
        try:
            self._model: Any = llm.get_model(name)
        except Exception as error:
            # Plugins and the user's YAML run here: whatever they raise, the model cannot be had.
            raise failure(f"no model {name!r}: {error}"[:200], final=True, hint="llm models") from error
        _switch_off_retries(self._model)
        self.name = name

    def ask(self, prompt: Prompt, timeout_s: float) -> Answer:  # noqa: ARG002 (the caller keeps the time)
        """Return the answer; raise LlmError for whatever the provider raises."""
        schema = dict(prompt.schema) if getattr(self._model, "supports_schema", False) else None
        try:
            response = self._model.prompt(prompt.text, system=prompt.system, schema=schema, stream=False)
            text = response.text()
            usage = response.usage()
        except Exception as error:
            # A provider's plugin may raise anything at all; none of it is a bug of ours.
            raise _translated(self.name, error) from error
        return estimated(prompt, text, usage.input, usage.output)


def _switch_off_retries(model: Any) -> None:
    """Have a model of OpenAI's client send each request once: a caller that retries itself must see every call."""
    get_client = getattr(model, "get_client", None)
    if not callable(get_client):
        return

    def get_plain_client(*arguments: Any, **named: Any) -> Any:
        client = get_client(*arguments, **named)
        return client.with_options(max_retries=0) if hasattr(client, "with_options") else client

    model.get_client = get_plain_client


def _translated(model: str, error: Exception) -> Exception:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(error, "status_code", None)
    transient = bool(kinds & _TRANSIENT) or isinstance(error, OSError) or status in (408, 409, 429)
    message = " ".join(str(error).split())[:160] or type(error).__name__
    return failure(f"{model}: {message}", transient=transient, final=bool(kinds & _FINAL))
