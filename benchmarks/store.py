"""Time the store: reading bullets, scanning, writing, recording recalls. Run: python benchmarks/store.py [FILES]."""

from __future__ import annotations

import sys
import tempfile
import time
import timeit

from memx.document import read_strict
from memx.model import Bullet
from memx.redact import PrivacySanitizer
from memx.store.codec import format_bullet, parse_bullet
from memx.store.journal import Journal
from memx.store.store import Store
from memx.store.yaml_reader import read_general

SECTIONS = ("tools", "debugging", "general")


def main(count: int) -> None:
    """Print a table of medians of small things and totals of large ones."""
    bullets = [example(number) for number in range(count)]
    data = format_bullet(bullets[0])
    text = data.decode()
    show("strict reader", best(lambda: read_strict(text)), "us")
    show("strict reader and typing", best(lambda: parse_bullet(data, path="x.md")), "us")
    show("general reader", best(lambda: read_general(text)), "us")
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(folder)
        ids = [bullet.id for bullet in bullets[:5]]
        show("journal, five recalls", best(lambda: journal.record(ids, 0, 60), 500), "us")
        store = Store(f"{folder}/.memx", f"{folder}/state", sanitizer=PrivacySanitizer())
        show(f"add {count}, each synced", clock(lambda: store.add_many(bullets)) / count * 1e6, "us a file")
        show(f"scan {count}", clock(store.scan) / count * 1e6, "us a file")
        show("find by id", clock(lambda: store.find(ids[0])) * 1e3, "ms")
        show("edit", clock(lambda: store.edit(ids[0], {"score": 3})) * 1e3, "ms")


def example(number: int) -> Bullet:
    """Return a bullet of ordinary size."""
    return Bullet(
        id=f"k{number:09d}",
        text=f"Redis timeouts under load come from the pool ceiling: set `POOL_{number}` to 50; 10 is not enough.",
        section=SECTIONS[number % len(SECTIONS)],
        type="pitfall",
        score=82,
        tags=("redis",),
        entities=(f"POOL_{number}",),
        anchors=("src/cache/pool.py",),
        created=1.7e9,
        updated=1.7e9,
        source="commit 4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff",
    )


def best(function: object, number: int = 2000) -> float:
    """Return the best microseconds a call of nine rounds."""
    return min(timeit.repeat(function, number=number, repeat=9)) / number * 1e6  # type: ignore[arg-type]


def clock(function: object) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    function()  # type: ignore[operator]
    return time.perf_counter() - start


def show(what: str, figure: float, unit: str) -> None:
    """Print a line of the table."""
    print(f"{what:32} {figure:10.1f} {unit}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
