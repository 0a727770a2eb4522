"""The LLM as this project sees it: which one, its caps, and what is kept of it in the state folder.

`llm/cache/` holds answers by the hash of model, prompt version and prompt;
`llm/ledger.jsonl` one line a call; `llm/queue` ids that hooks left for later.
"""

from __future__ import annotations

import json
import os
import threading

from memx.errors import StoreError
from memx.record import record
from memx.store.lock import Lock
from memx.timestamp import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memx.app.project import Project
    from memx.config import LlmConfig
    from memx.reflector.llm.caller import Caller
    from memx.reflector.llm.limits import Spent
    from memx.reflector.llm.port import LLM, Answer

FOLDER = "llm"
CACHE_ENTRIES = 20_000
"""Above so many answers the oldest tenth goes; an answer is some 300 bytes."""


@record
class LedgerLine:
    """One call: the UTC day, mode and model, what came of it, and its tokens."""

    day: str
    mode: str
    model: str
    outcome: str
    tokens_in: int
    tokens_out: int


@record
class Total:
    """The calls of one day, mode and model."""

    day: str
    mode: str
    model: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    refused: int = 0
    failed: int = 0


def is_configured(config: LlmConfig) -> bool:
    """Tell whether someone named a model or a command; nothing else is taken for a wish to use one."""
    return bool(config.model or config.command)


def open_model(project: Project, config: LlmConfig) -> LLM:
    """Return the model or the command that is configured; the command wins. Raises LlmError."""
    if config.command:
        from memx.app.places import user_dir
        from memx.reflector.llm.command import CommandModel

        # Not in the work tree: an agent that is run there would read the project and its memory.
        folder = os.path.join(user_dir("state", project.environ), "llm-run")
        os.makedirs(folder, exist_ok=True)
        environ = {**project.environ, "MEMX_REFLECTOR_MODE": "rules"}
        return CommandModel(config.command, environ, folder)
    from memx.reflector.llm.library import LibraryModel

    return LibraryModel(config.model)


def open_caller(project: Project, config: LlmConfig, model: LLM, ledger: Ledger) -> Caller:
    """Return what asks the model within the caps, with the cache of this project."""
    from memx.reflector.llm.caller import Caller
    from memx.reflector.llm.limits import Budget

    cache = AnswerCache(project.state_dir)
    cache.prune()
    return Caller(model, config, Budget(config, ledger.spent_today), cache, ledger)


class AnswerCache:
    """Answers, one small file each."""

    def __init__(self, state_dir: str) -> None:
        """Name the folder; it is made when the first answer is kept."""
        self._folder = os.path.join(state_dir, FOLDER, "cache")

    def get(self, key: str) -> Answer | None:
        """Return a kept answer; a damaged one counts as none."""
        from memx.reflector.llm.port import Answer

        try:
            with open(self._path(key), encoding="utf-8") as stream:
                values = json.load(stream)
            return Answer(str(values["text"]), int(values["in"]), int(values["out"]), is_cached=True)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; a folder that cannot be written keeps none."""
        from memx.store.atomic import write_atomically

        values = {"text": answer.text, "in": answer.tokens_in, "out": answer.tokens_out}
        try:
            write_atomically(self._path(key), json.dumps(values).encode(), durable=False)
        except OSError:
            return

    def prune(self) -> None:
        """Drop the oldest answers when there are too many."""
        try:
            entries = [entry for shard in os.scandir(self._folder) for entry in os.scandir(shard.path)]
        except OSError:
            return
        if len(entries) <= CACHE_ENTRIES:
            return
        entries.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in entries[: CACHE_ENTRIES // 10]:
            os.unlink(entry.path)

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], key[2:])


class Ledger:
    """What the calls cost, written line by line as they are made, so that a killed run is counted too."""

    def __init__(self, project: Project, mode: str, model: str) -> None:
        """Take the day from the project's clock."""
        self._path = os.path.join(project.state_dir, FOLDER, "ledger.jsonl")
        self._day = format_time(project.now)[:10]
        self._mode = mode
        self._model = model
        self._lock = threading.Lock()
        self.lines: list[LedgerLine] = []

    def write(self, outcome: str, tokens_in: int, tokens_out: int) -> None:
        """Note one call; a folder that cannot be written keeps it in memory alone."""
        line = LedgerLine(self._day, self._mode, self._model, outcome, tokens_in, tokens_out)
        values = {name: getattr(line, name) for name in LedgerLine.__slots__}  # type: ignore[attr-defined]
        data = (json.dumps(values, separators=(",", ":")) + "\n").encode()
        with self._lock:
            self.lines.append(line)
            try:
                os.makedirs(os.path.dirname(self._path), exist_ok=True)
                with open(self._path, "ab") as stream:
                    stream.write(data)
            except OSError:
                return

    def spent_today(self) -> Spent:
        """Return what all runs of this day spent."""
        from memx.reflector.llm.limits import Spent

        today = [t for t in totals(_read_ledger(self._path)) if t.day == self._day]
        return Spent(sum(t.calls for t in today), sum(t.tokens_in + t.tokens_out for t in today))


def read_totals(project: Project) -> list[Total]:
    """Return the ledger, summed by day, mode and model."""
    return totals(_read_ledger(os.path.join(project.state_dir, FOLDER, "ledger.jsonl")))


def totals(lines: Iterable[LedgerLine]) -> list[Total]:
    """Sum calls by day, mode and model. A call that failed is a call; what the cache answered is none."""
    sums: dict[tuple[str, str, str], list[int]] = {}
    for line in lines:
        counts = sums.setdefault((line.day, line.mode, line.model), [0] * 6)
        counts[0] += line.outcome in ("answered", "failed")
        counts[1] += line.tokens_in
        counts[2] += line.tokens_out
        for at, outcome in enumerate(("cached", "refused", "failed"), 3):
            counts[at] += line.outcome == outcome
    return [Total(*key, *counts) for key, counts in sorted(sums.items())]


def _read_ledger(path: str) -> Iterator[LedgerLine]:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for text in stream:
                try:
                    values = json.loads(text)
                    yield LedgerLine(**{name: values[name] for name in LedgerLine.__slots__})  # type: ignore[attr-defined]
                except (ValueError, KeyError, TypeError):
                    continue  # a torn line of a writer that was killed
    except OSError:
        return


class Queue:
    """Ids of inbox candidates that wait for the LLM: hooks add, `memx distill --queued` takes."""

    def __init__(self, state_dir: str) -> None:
        """Name the files."""
        self._path = os.path.join(state_dir, FOLDER, "queue")
        self._lock = Lock(os.path.join(state_dir, FOLDER, "queue.lock"), timeout_s=1.0)

    def add(self, ids: Iterable[str]) -> None:
        """Append ids; a folder that cannot be written queues nothing."""
        data = "".join(f"{identifier}\n" for identifier in ids).encode("ascii", "replace")
        try:
            with self._lock, open(self._path, "ab") as stream:
                stream.write(data)
        except (OSError, StoreError):
            return

    def ids(self) -> list[str]:
        """Return the ids, each once, oldest first."""
        try:
            with open(self._path, encoding="ascii", errors="replace") as stream:
                return list(dict.fromkeys(stream.read().split()))
        except OSError:
            return []

    def remove(self, done: Iterable[str]) -> None:
        """Take ids out that were refined or are gone."""
        from memx.store.atomic import write_atomically

        gone = frozenset(done)
        with self._lock:
            kept = [identifier for identifier in self.ids() if identifier not in gone]
            write_atomically(self._path, "".join(f"{i}\n" for i in kept).encode("ascii"), durable=False)
