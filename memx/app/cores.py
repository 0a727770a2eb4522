"""Work in batches on all cores, with a few batches in flight, so that memory stays bounded."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from typing import Any, TypeVar

    Batch = TypeVar("Batch")
    Result = TypeVar("Result")


def map_on_cores(
    function: Callable[..., Result],
    batches: Iterable[Batch],
    *more: Any,
    cores: int,
    prepare: Callable[..., None] | None = None,
    prepared: tuple[Any, ...] = (),
) -> Iterator[Result]:
    """Yield `function(batch, *more)` for each batch, in order; `prepare(*prepared)` runs once in every worker."""
    from collections import deque
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(cores, initializer=_begin, initargs=(prepare, prepared)) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for batch in batches:
                waiting.append(pool.submit(function, batch, *more))
                if len(waiting) >= 2 * cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except (KeyboardInterrupt, GeneratorExit):
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin(prepare: Callable[..., None] | None, prepared: tuple[Any, ...]) -> None:
    _end_with_parent()
    if prepare is not None:
        prepare(*prepared)


def _end_with_parent() -> None:
    """Let a worker end when its parent is killed: it would wait for work for ever, since its sisters hold the pipe."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait
    from threading import Thread

    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        wait([sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()
