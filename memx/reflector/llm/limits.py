"""Caps on calls and tokens, per run and per day; the sums of a day come from the ledger."""

from __future__ import annotations

import threading

from memx.record import record
from memx.reflector.llm.port import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memx.config import LlmConfig


@record
class Spent:
    """Calls that were made and their tokens both ways."""

    calls: int = 0
    tokens: int = 0


class Budget:
    """What a run may still spend; a call reserves its estimate first, so that parallel calls keep within the cap.

    Other processes spend on the same day: their sum is asked for anew before each call, so that all of them
    together pass a cap by no more than the calls that are under way in the others.
    """

    def __init__(self, config: LlmConfig, today: Callable[[], Spent]) -> None:
        """Take the caps, and what tells the sum of the day, this run's finished calls included."""
        self._config = config
        self._today = today
        self._before = today()
        self._run = Spent()
        self._open = Spent()
        self._lock = threading.Lock()

    def reserve(self, tokens: int) -> None:
        """Count a call of so many tokens; raise a final LlmError when a cap would be passed."""
        with self._lock:
            refused = self._cap_passed(Spent(1, tokens))
            if refused:
                raise failure(
                    f"{refused} is reached", final=True, hint=f"memx config set {refused} N raises it"
                )
            self._run = _sum(self._run, Spent(1, tokens))
            self._open = _sum(self._open, Spent(1, tokens))

    def settle(self, reserved: int, actual: int) -> None:
        """Put the tokens that a call really took in the place of the reserved ones; its end is in the ledger."""
        with self._lock:
            self._run = _sum(self._run, Spent(0, actual - reserved))
            self._open = _sum(self._open, Spent(-1, -reserved))

    def _cap_passed(self, call: Spent) -> str:
        config = self._config
        run = _sum(self._run, call)
        # The second is what counts where the ledger cannot be written.
        ledger, own = _sum(self._today(), self._open, call), _sum(self._before, run)
        caps = (
            ("llm.max_calls_per_run", run.calls, config.max_calls_per_run),
            ("llm.max_tokens_per_run", run.tokens, config.max_tokens_per_run),
            ("llm.max_calls_per_day", max(ledger.calls, own.calls), config.max_calls_per_day),
            ("llm.max_tokens_per_day", max(ledger.tokens, own.tokens), config.max_tokens_per_day),
        )
        return next((name for name, wanted, cap in caps if wanted > cap), "")


def _sum(*parts: Spent) -> Spent:
    return Spent(sum(part.calls for part in parts), sum(part.tokens for part in parts))
