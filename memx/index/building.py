"""A whole index from all files of a store, on one core or on several."""

from __future__ import annotations

import os

from memx.errors import IndexUnavailableError
from memx.index import freshness, manifest
from memx.index.bulk import Share, index_shares
from memx.index.lexical import join
from memx.index.packed import load
from memx.record import record, replace
from memx.store.paths import name_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from memx.index.bulk import Part
    from memx.index.freshness import Stat
    from memx.index.index import IndexPlace
    from memx.index.lexical import LexicalIndex
    from memx.model import Bullet, Problem

SPREAD_ABOVE, PARTS_AT_MOST = 5_000, 4
"""More files than this are indexed by several processes; every part makes each later search a little slower."""


@record
class Built:
    """A finished index, with what its head has to say; `keys`: the vector keys of its bullets."""

    index: LexicalIndex
    keys: tuple[bytes, ...]
    file_count: int
    scopes: tuple[str, ...]
    problems: tuple[Problem, ...]


def build(
    folder: str,
    place: IndexPlace,
    read_ns: int,
    *,
    parse: Callable[..., Bullet] | None,
    created_of: Callable[[str], float | None] | None,
    spread: Callable[..., Iterable[Any]] | None,
) -> Built:
    """Index all files of a store into a generation's folder and write its tables.

    Whoever reads a file also asks for its stat: 100,000 stats beforehand were a quarter of a second in which
    the other cores had nothing to do. Raises IndexUnavailableError and OSError when the folder cannot be written.
    """
    listed, problems = _list_files(place.root)
    parts = _index_files(folder, listed, place, read_ns, parse, spread)
    index = join([part.folder for part in parts], os.path.join(folder, manifest.LEXICAL))
    _add_undated(index, parts, created_of)
    file_count = _save_tables(folder, listed, parts)
    problems += [problem for part in parts for problem in part.problems]
    return Built(
        index,
        tuple(key for part in parts for key in part.keys),
        file_count,
        tuple(sorted({scope for part in parts for scope in part.scopes})),
        tuple(sorted(problems, key=lambda problem: problem.path)),
    )


def _list_files(root: str) -> tuple[dict[str, list[str]], list[Problem]]:
    """Return {folder: names in the order of its listing} of what can be indexed, and what is wrong with the rest."""
    listed: dict[str, list[str]] = {}
    problems: list[Problem] = []
    for folder, numbers in sorted(freshness.list_numbers(root, freshness.FOLDERS).items()):
        names = list(numbers)
        odd = [problem for name in names if (problem := name_problem(f"{folder}/{name}")) is not None]
        if odd:
            misnamed = {problem.path for problem in odd}
            names = [name for name in names if f"{folder}/{name}" not in misnamed]
            problems += odd
        listed[folder] = names
    return listed, problems


def _index_files(
    folder: str,
    listed: dict[str, list[str]],
    place: IndexPlace,
    read_ns: int,
    parse: Callable[..., Bullet] | None,
    spread: Callable[..., Iterable[Any]] | None,
) -> list[Part]:
    cores = min(os.cpu_count() or 1, PARTS_AT_MOST)
    count = sum(map(len, listed.values()))
    if spread is not None and parse is None and count > SPREAD_ABOVE and cores > 1:
        try:
            shares = _shares(os.path.join(folder, "parts"), listed, cores)
            batches = [[share] for share in shares]
            found = spread(index_shares, batches, place.root, place.store, read_ns)
            return [part for parts in found for part in parts]
        except (OSError, RuntimeError, IndexUnavailableError):
            pass  # no processes to be had, or one was killed: alone then
    alone = [Share(os.path.join(folder, "part"), listed)]
    return index_shares(alone, place.root, place.store, read_ns, parse)


def _shares(folder: str, listed: dict[str, list[str]], count: int) -> list[Share]:
    """Cut the files in the order of their paths: equal stores give equal answers, on any number of cores."""
    from bisect import bisect_right

    paths = sorted([f"{parent}/{name}" for parent, names in listed.items() for name in names])
    size = -(-len(paths) // count) or 1
    firsts = paths[size::size]
    shares = [Share(f"{folder}-{number}", {}) for number in range(len(firsts) + 1)]
    for parent, names in listed.items():
        before, after = bisect_right(firsts, f"{parent}/"), bisect_right(firsts, f"{parent}0")  # 0 follows /
        if before == after:
            shares[before].files[parent] = names
            continue
        for name in names:
            files = shares[bisect_right(firsts, f"{parent}/{name}")].files
            files.setdefault(parent, []).append(name)
    return shares


def _add_undated(
    index: LexicalIndex, parts: list[Part], created_of: Callable[[str], float | None] | None
) -> None:
    """Add the bullets that say nothing of their own date; git's history, which may know, is asked here alone."""
    undated = [load(data) for part in parts for data in part.undated]
    if created_of is not None:
        undated = [replace(packed, created=created_of(packed.path)) for packed in undated]
    if undated:
        index.apply(undated, bulk=True)


def _save_tables(folder: str, listed: dict[str, list[str]], parts: list[Part]) -> int:
    """Write the tables of all parts; return the number of files in them."""
    listings: dict[str, bytes] = {}
    digests: dict[str, bytes] = {}
    count = 0
    for parent, names in listed.items():
        tables = [part.tables[parent] for part in parts if parent in part.tables]
        listing, digest = tables[0] if len(tables) == 1 else _joined(names, tables)
        found = len(freshness.columns_of(listing)[0])
        if found:
            listings[parent], digests[parent] = listing, digest
            count += found
    manifest.save_parts(folder, listings, digests)
    return count


def _joined(names: list[str], tables: list[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """Return the tables of a folder that several processes have read, in the order in which it is listed."""
    stats: dict[str, Stat] = {}
    digests: dict[str, bytes] = {}
    for listing, digest in tables:
        stats |= freshness.read_listing(listing)
        digests |= manifest.read_digest_part(digest)
    found = [name for name in names if name in stats]
    return (
        freshness.make_listing({name: stats[name] for name in found}),
        manifest.digest_part({name: digests[name] for name in found}),
    )
