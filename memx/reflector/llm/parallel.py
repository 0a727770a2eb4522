"""A function over many items in a few threads, results in order; an interrupt leaves at once."""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    Item = TypeVar("Item")
    Result = TypeVar("Result")


def map_in_order(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> list[Result]:
    """Return the result for each item; the first exception is raised when all threads have ended.

    The threads are daemons, unlike those of a pool: the interpreter does not
    wait for a server that hangs when a person has pressed ^C.
    """
    if workers < 2 or len(items) < 2:  # noqa: PLR2004 (one thread is the one that is here)
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    numbered = iter(list(enumerate(items)))
    lock = threading.Lock()

    def run() -> None:
        while not errors:
            with lock:
                at, item = next(numbered, (-1, None))
            if at < 0:
                return
            try:
                results[at] = function(item)  # type: ignore[arg-type]
            except BaseException as error:  # noqa: BLE001 (raised again in the caller's thread)
                errors.append(error)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(min(workers, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[at] for at in range(len(items))]
