"""One way to ask: cache, budget, deadline, retries with back-off, and a stop when nobody answers."""

from __future__ import annotations

import threading
import time
from hashlib import sha256

from memx.errors import LlmError
from memx.reflector.llm.port import Answer, failure
from memx.reflector.llm.tokens import estimate_tokens, expected_answer, prompt_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from memx.config import LlmConfig
    from memx.reflector.llm.limits import Budget
    from memx.reflector.llm.port import LLM, Prompt

    class Cache(Protocol):
        """Answers by key."""

        def get(self, key: str) -> Answer | None:
            """Return the answer of an earlier call."""
            ...

        def put(self, key: str, answer: Answer) -> None:
            """Keep an answer."""
            ...

    class Ledger(Protocol):
        """What every call cost."""

        def write(self, outcome: str, tokens_in: int, tokens_out: int) -> None:
            """Note one call: answered, cached or failed."""
            ...


ANSWERED, CACHED, FAILED, REFUSED = "answered", "cached", "failed", "refused"
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
GRACE_S = 0.5
"""What an adapter that keeps the time itself has to clean up after it."""
FAILURES_IN_A_ROW = 3
"""After so many calls without an answer no further one is made in the run: the server is down."""


class Caller:
    """Asks an LLM within its limits; safe to use from several threads."""

    def __init__(
        self,
        llm: LLM,
        config: LlmConfig,
        budget: Budget,
        cache: Cache,
        ledger: Ledger,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the model, the limits, and where answers and costs are kept."""
        self._llm = llm
        self._config = config
        self._budget = budget
        self._cache = cache
        self._ledger = ledger
        self._pause = pause
        self._lock = threading.Lock()
        self._failures = 0
        self._stopped = ""

    def key(self, prompt: Prompt) -> str:
        """Return what an answer is kept under: the model, the prompt's version and every word of it."""
        parts = (self._llm.name, prompt.version, prompt.system, prompt.text)
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def ask(self, prompt: Prompt) -> Answer:
        """Return an answer from the cache or the LLM; raise LlmError when there is none to be had."""
        known = self._cache.get(self.key(prompt))
        if known is not None:
            self._ledger.write(CACHED, 0, 0)
            return known
        estimate = prompt_tokens(prompt)
        pause_s = FIRST_PAUSE_S
        for attempt in range(self._config.retries + 1):
            try:
                return self._try_once(prompt, estimate)
            except LlmError as error:
                if not error.is_transient or attempt == self._config.retries or self._stopped:
                    raise
            self._pause(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
        raise failure("the LLM was not asked")

    def keep(self, prompt: Prompt, answer: Answer) -> None:
        """Keep an answer that was of use; one that was not is asked for anew the next time."""
        if not answer.is_cached:
            self._cache.put(self.key(prompt), answer)

    def refuse(self) -> None:
        """Note that an answer was of no use."""
        self._ledger.write(REFUSED, 0, 0)

    def _try_once(self, prompt: Prompt, estimate: int) -> Answer:
        if self._stopped:
            raise failure(self._stopped, final=True)
        reserved = estimate + expected_answer(prompt)
        try:
            self._budget.reserve(reserved)
        except LlmError as error:
            self._stopped = error.message
            raise
        try:
            answer = ask_in_time(self._llm, prompt, self._config.timeout_seconds)
        except LlmError as error:
            self._budget.settle(reserved, reserved)
            self._ledger.write(FAILED, estimate, 0)
            self._count_failure(error)
            raise
        with self._lock:
            self._failures = 0
        self._budget.settle(reserved, answer.tokens_in + answer.tokens_out)
        self._ledger.write(ANSWERED, answer.tokens_in, answer.tokens_out)
        return answer

    def _count_failure(self, error: LlmError) -> None:
        with self._lock:
            self._failures += 1
            if error.is_final or self._failures >= FAILURES_IN_A_ROW:
                self._stopped = self._stopped or error.message


def ask_in_time(llm: LLM, prompt: Prompt, timeout_s: float) -> Answer:
    """Ask in a thread of its own and wait no longer than the timeout; raise LlmError.

    A library may have a timeout of its own, or none, or count it from byte to
    byte. The thread is a daemon: one that hangs does not keep the process.
    """
    box: list[Answer | Exception] = []

    def run() -> None:
        try:
            box.append(llm.ask(prompt, timeout_s))
        except LlmError as error:
            box.append(error)

    thread = threading.Thread(target=run, daemon=True, name="memx-llm")
    thread.start()
    thread.join(timeout_s + GRACE_S)
    if not box:
        what = f"did not answer within {timeout_s:g} seconds" if thread.is_alive() else "failed"
        raise failure(f"{llm.name} {what}", transient=True)
    outcome = box[0]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def estimated(
    prompt: Prompt, text: str, tokens_in: int | None = None, tokens_out: int | None = None
) -> Answer:
    """Return an answer with the tokens that were counted, else estimated."""
    return Answer(
        text,
        prompt_tokens(prompt) if tokens_in is None else tokens_in,
        estimate_tokens(text) if tokens_out is None else tokens_out,
    )
