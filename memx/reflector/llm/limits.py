"""Caps on calls and tokens, per run and per day; the sums of a day come from the ledger."""

from __future__ import annotations

import threading

from memx.record import record
from memx.reflector.llm.port import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.config import LlmConfig


@record
class Spent:
    """Calls that were made and their tokens both ways."""

    calls: int = 0
    tokens: int = 0


class Budget:
    """What a run may still spend; a call reserves its estimate first, so that parallel calls keep within the cap."""

    def __init__(self, config: LlmConfig, today: Spent) -> None:
        """Take the caps and what was spent today before this run."""
        self._config = config
        self._today = today
        self._calls = 0
        self._tokens = 0
        self._lock = threading.Lock()

    def reserve(self, tokens: int) -> None:
        """Count a call of so many tokens; raise a final LlmError when a cap would be passed."""
        with self._lock:
            refused = self._cap_passed(self._calls + 1, self._tokens + tokens)
            if refused:
                raise failure(
                    f"{refused} is reached", final=True, hint=f"memx config set {refused} N raises it"
                )
            self._calls += 1
            self._tokens += tokens

    def settle(self, reserved: int, actual: int) -> None:
        """Put the tokens that a call really took in the place of the reserved ones."""
        with self._lock:
            self._tokens += actual - reserved

    def _cap_passed(self, calls: int, tokens: int) -> str:
        config, today = self._config, self._today
        caps = (
            ("llm.max_calls_per_run", calls, config.max_calls_per_run),
            ("llm.max_tokens_per_run", tokens, config.max_tokens_per_run),
            ("llm.max_calls_per_day", today.calls + calls, config.max_calls_per_day),
            ("llm.max_tokens_per_day", today.tokens + tokens, config.max_tokens_per_day),
        )
        return next((name for name, wanted, cap in caps if wanted > cap), "")
