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
    from collections.abc import Callable, Iterable, Sequence
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
    listings: dict[str, bytes],
    place: IndexPlace,
    read_ns: int,
    *,
    parse: Callable[..., Bullet] | None,
    created_of: Callable[[str], float | None] | None,
    spread: Callable[..., Iterable[Any]] | None,
) -> Built:
    """Index all listed files into a generation's folder and write its tables.

    Raises IndexUnavailableError and OSError when the folder cannot be written.
    """
    found = {
        f"{name}/{file}": stat
        for name, listing in sorted(listings.items())
        for file, stat in freshness.read_listing(listing).items()
    }
    problems = [problem for path in found if (problem := name_problem(path)) is not None]
    misnamed = {problem.path for problem in problems}
    files = [(path, stat) for path, stat in sorted(found.items()) if path not in misnamed]
    parts = _index_files(folder, files, place, parse, spread)
    index = join([part.folder for part in parts], os.path.join(folder, manifest.LEXICAL))
    _add_undated(index, parts, created_of)
    digests = [digest for part in parts for digest in part.digests]
    read = {path: digest for (path, _), digest in zip(files, digests, strict=True) if digest is not None}
    _save_tables(folder, found, read, read_ns)
    problems += [problem for part in parts for problem in part.problems]
    return Built(
        index,
        tuple(key for part in parts for key in part.keys),
        len(read),
        tuple(sorted({scope for part in parts for scope in part.scopes})),
        tuple(sorted(problems, key=lambda problem: problem.path)),
    )


def _index_files(
    folder: str,
    files: list[tuple[str, Stat]],
    place: IndexPlace,
    parse: Callable[..., Bullet] | None,
    spread: Callable[..., Iterable[Any]] | None,
) -> list[Part]:
    cores = min(os.cpu_count() or 1, PARTS_AT_MOST)
    if spread is not None and parse is None and len(files) > SPREAD_ABOVE and cores > 1:
        try:
            shares = _shares(os.path.join(folder, "parts"), files, cores)
            batches = [[share] for share in shares]
            return [
                part for parts in spread(index_shares, batches, place.root, place.store) for part in parts
            ]
        except (OSError, RuntimeError, IndexUnavailableError):
            pass  # no processes to be had, or one was killed: alone then
    return index_shares(_shares(os.path.join(folder, "part"), files, 1), place.root, place.store, parse)


def _shares(folder: str, files: Sequence[tuple[str, Stat]], count: int) -> list[Share]:
    size = -(-len(files) // count) or 1
    slices = [tuple(files[at : at + size]) for at in range(0, max(1, len(files)), size)]
    return [Share(f"{folder}-{number}", part) for number, part in enumerate(slices)]


def _add_undated(
    index: LexicalIndex, parts: list[Part], created_of: Callable[[str], float | None] | None
) -> None:
    """Add the bullets that say nothing of their own date; git's history, which may know, is asked here alone."""
    undated = [load(data) for part in parts for data in part.undated]
    if created_of is not None:
        undated = [replace(packed, created=created_of(packed.path)) for packed in undated]
    if undated:
        index.apply(undated, bulk=True)


def _save_tables(folder: str, found: dict[str, Stat], digests: dict[str, bytes], read_ns: int) -> None:
    stats_of: dict[str, dict[str, Stat]] = {}
    digests_of: dict[str, dict[str, bytes]] = {}
    for path, stat in found.items():  # in the order of the listings, so that the next ones are the same bytes
        if path in digests:
            parent, _, name = path.rpartition("/")
            stats_of.setdefault(parent, {})[name] = freshness.proven(stat, read_ns)
            digests_of.setdefault(parent, {})[name] = digests[path]
    listings = {parent: freshness.make_listing(stats) for parent, stats in stats_of.items()}
    manifest.save_tables(folder, listings, digests_of)
