"""The lexical index: the only module that imports tantivy.

User text never reaches tantivy's query parser; terms come analysed and become
term and fuzzy queries. Views are indexed as blank-separated terms, so tantivy's
white-space tokenizer is the only one in use and nothing has to be registered.
"""

from __future__ import annotations

import os
from math import log

import tantivy
from tantivy import Occur, Query

from memx.errors import IndexUnavailableError
from memx.index import packed as packing
from memx.index.analysis import fold
from memx.index.manifest import remove_tree
from memx.index.query import NO_FILTERS
from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from memx.index.packed import PackedBullet
    from memx.index.query import Filters, LexicalQuery
    from memx.index.segments import Address, Segments

SCHEMA_VERSION = f"1.{packing.PACKED_VERSION}"
"""Changes whenever the fields, the analysis or the packed form change: part of the manifest."""

TANTIVY_VERSION: str = getattr(tantivy, "__version__", "")

BULK_HEAP_BYTES = 128_000_000
SMALL_HEAP_BYTES = 15_000_000
"""tantivy's minimum; enough for a refresh of some hundred bullets."""

FEW_KEYS = 200
"""Up to here as many term queries take a fifth of the time of one term set."""

REMEMBERED = 400
"""Bullets that one opening of an index remembers to have read: more than a search looks at."""

BLOCK_BYTES = 2_048
"""Of stored bullets, each packed by itself: a search takes some eighty bullets from all over the store, and
tantivy's own blocks of 16 KB cost it three times as long to unpack, for a seventh of the size saved."""

ORDERS = ("worth", "proof")
"""Columns that bullets can be ordered by without a question."""

BURST = 512
"""Documents are handed over so many at a time: one by one, tantivy's thread falls asleep and is woken for each."""

EXACT_BOOST = 1.0
STEM_BOOST = 0.5
PIECE_BOOST = 0.3
META_BOOST = 1.0
FUZZY_BOOST = 0.3
"""Of a word that nothing holds as it stands: times what a rare word weighs, since tantivy gives a constant."""


def make_stem() -> Any:
    """Return the stemmer: English and Spanish for Latin words, Russian for Cyrillic ones."""
    english, spanish, russian = (_stemmer(name) for name in ("english", "spanish", "russian"))

    def stem(word: str) -> tuple[str, ...]:
        if not word.isalpha():
            return (word,)
        if word.isascii():
            first, second = english.analyze(word), spanish.analyze(word)
            # The stemmer knows Spanish endings with and without accents alike once folded.
            return tuple(dict.fromkeys((*first, *second))) or (word,)
        return tuple(russian.analyze(word)) or (word,)

    return stem


def _stemmer(language: str) -> Any:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    return builder.filter(tantivy.Filter.stemmer(language)).build()


def _make_schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("facet", tokenizer_name="whitespace", index_option="basic")
    builder.add_unsigned_field("key", indexed=True)
    for view in ("exact", "stems", "meta"):
        builder.add_text_field(view, tokenizer_name="whitespace", index_option="freq")
    for order in ORDERS:
        builder.add_unsigned_field(order, fast=True)
    builder.add_bytes_field("packed", stored=True)
    return builder.build()


class LexicalIndex:
    """One tantivy index on disk or in memory, as it was when it was opened or last reloaded."""

    def __init__(self, index: Any, folder: str = "") -> None:
        """Wrap an open index; use `create`, `open` or `in_memory`."""
        self._index = index
        self._folder = folder
        self._schema = index.schema
        self._look_anew()

    def _look_anew(self) -> None:
        """See what was committed last."""
        searcher = self._searcher = self._index.searcher()
        self._is_pristine = bool(_guard(searcher.doc_freq, "facet", "bullet") == searcher.num_docs)
        self._read: dict[tuple[int, int], PackedBullet] = {}

    @classmethod
    def create(cls, folder: str) -> LexicalIndex:
        """Make an empty index in an existing, empty folder."""
        _guard(tantivy.Index, _make_schema(), folder)
        _guard(_set_blocks, folder)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str) -> LexicalIndex:
        """Open what `create` made; any damage raises IndexUnavailableError."""
        index = _guard(tantivy.Index.open, folder)
        if index.schema != _make_schema():
            raise IndexUnavailableError("the index is of another schema")
        return cls(index, folder)

    @classmethod
    def in_memory(cls) -> LexicalIndex:
        """Make an empty index that lives as long as the process."""
        return cls(tantivy.Index(_make_schema()))

    @property
    def size(self) -> int:
        """The number of bullets."""
        return int(self._searcher.num_docs)

    def apply(self, added: Iterable[PackedBullet], *, bulk: bool = False) -> None:
        """Add bullets that are not in it and commit.

        Raises IndexUnavailableError when another writer is at work or the disk is full.
        """
        heap = BULK_HEAP_BYTES if bulk else SMALL_HEAP_BYTES
        # One thread: documents lie in the order in which they were given, so that equal stores give equal answers.
        writer = _guard(self._index.writer, heap, 1)
        entries = (packing.entry(packing.values_of(bullet)) for bullet in added)
        _guard(_write, writer, self._schema, entries)
        self._reload()

    def _reload(self) -> None:
        _guard(self._index.reload)
        self._look_anew()

    def fill(self, entries: Iterable[dict[str, Any]]) -> None:
        """Write into an empty index what `memx.index.packed.entry` says of each bullet; errors as in `apply`."""
        writer = _guard(self._index.writer, BULK_HEAP_BYTES, 1)
        _guard(_write, writer, self._schema, entries)
        self._reload()

    def addresses(self, paths: Iterable[str]) -> dict[str, list[Address]]:
        """Return where the bullets at these paths are; an empty list for a path without one.

        To be asked by who holds the right to write, for an index that was opened since.
        """
        names = self.segments().names
        # A query a path: that of all paths at once does not say which is which.
        queries = ((path, Query.term_query(self._schema, "path", path, "basic")) for path in paths)
        return {
            path: [(names[at.segment_ord], at.doc) for _, at in self._search(query, 4).hits]
            for path, query in queries
        }

    def segments(self) -> Segments:
        """Return the files of an index on disk, as they are now."""
        from memx.index.segments import Segments

        return Segments(self._folder)

    def change(
        self,
        added: Sequence[PackedBullet],
        leaving: Iterable[Address] = (),
        returning: Iterable[Address] = (),
    ) -> Segments:
        """Add bullets, and turn the alive bits of others off and on; return the segments as they are then.

        Bullets are added as an index of their own, whose segment is taken over: tantivy's own writer, which would
        merge others by the way, never sees this one. Raises IndexUnavailableError when that cannot be written;
        then nothing has changed.
        """

        def write(segments: Segments, aside: str) -> None:
            if added:
                os.makedirs(aside)
                LexicalIndex.create(aside).apply(added)
                segments.adopt(aside)
            segments.turn(leaving, alive=False)
            segments.turn(returning, alive=True)

        return self._rewritten(write)

    def tidy(self, segments: Segments) -> Segments:
        """Merge small segments when there are too many; return the segments as they are then."""
        names = segments.too_many()

        def merge(segments: Segments, aside: str) -> None:
            os.makedirs(aside)
            segments.lend(names, aside)
            LexicalIndex.open(aside).apply(())  # a commit of nothing: tantivy merges what there is
            segments.drop(names)
            segments.adopt(aside)

        return self._rewritten(merge) if names else segments

    def _rewritten(self, write: Callable[[Segments, str], None]) -> Segments:
        """Change the segments with the help of a folder to be made, save them, and remove what nothing names."""
        aside = f"{self._folder}.part"
        remove_tree(aside)
        segments = self.segments()
        try:
            write(segments, aside)
            segments.save()
        except OSError as error:
            raise IndexUnavailableError(f"the index cannot be written: {error}") from error
        finally:
            remove_tree(aside)
            self.segments().collect()  # as they are on the disk, whatever became of the change
        self._reload()
        return segments

    def count(self, view: str, term: str) -> int:
        """Return how many bullets hold a term (document frequency without deleted ones)."""
        if view == "facet":
            term = packing.facet_term(term)
        held = int(_guard(self._searcher.doc_freq, view, term))
        if self._is_pristine or not held:  # no dead bullets, so the dictionary's own count is right
            return held
        query = Query.term_query(self._schema, view, term, "basic")
        return int(self._search(query, 1, count=True).count or 0)

    def candidates(self, query: LexicalQuery, limit: int) -> list[PackedBullet]:
        """Return the best bullets by BM25 over all views, at most `limit`."""
        clauses = [(Occur.Should, clause) for clause in self._clauses(query)]
        if not clauses:
            return []
        return self._fetch(self._filtered(Query.boolean_query(clauses), query.filters), limit)

    def holding(self, terms: Sequence[str], filters: Filters, limit: int) -> list[PackedBullet]:
        """Return bullets that hold all of these exact terms, the best by BM25 first, at most `limit`."""
        clauses = [(Occur.Must, Query.term_query(self._schema, "exact", term, "freq")) for term in terms]
        return self._fetch(self._filtered(Query.boolean_query(clauses), filters), limit)

    def with_keys(self, keys: Sequence[bytes], filters: Filters = NO_FILTERS) -> list[PackedBullet]:
        """Return the bullets whose vectors have these keys, in no particular order."""
        if not keys:
            return []
        found = self._fetch(self._filtered(self._any_key(keys), filters), 4 * len(keys))
        wanted = frozenset(keys)  # the index holds halves of them
        return [bullet for bullet in found if bullet.vector_key in wanted]

    def _any_key(self, keys: Sequence[bytes]) -> Any:
        """Return a query for documents with one of these keys; building an automaton pays for many only."""
        if len(keys) > FEW_KEYS:
            return Query.term_set_query(self._schema, "key", list(map(packing.key_number, keys)))
        number = packing.key_number
        terms = [Query.term_query(self._schema, "key", number(key), "basic") for key in keys]
        return Query.const_score_query(Query.boolean_query([(Occur.Should, term) for term in terms]), 1.0)

    def with_facet(self, facet: str, limit: int = 100) -> list[PackedBullet]:
        """Return bullets that have a facet such as `id:k3v9q2m7xa`."""
        return self._fetch(self._one_facet(facet), limit)

    def with_paths(self, paths: Sequence[str]) -> list[PackedBullet]:
        """Return the bullets at these paths."""
        if not paths:
            return []
        return self._fetch(Query.term_set_query(self._schema, "path", list(paths)), 2 * len(paths))

    def leading(self, limit: int, filters: Filters) -> list[PackedBullet]:
        """Return the pinned bullets, and the best `limit` by worth and half as many by proof that pass."""
        pinned = replace(filters, required=(*filters.required, "pinned"))
        found = self._fetch(self._filtered(Query.all_query(), pinned), limit)
        for order, many in zip(ORDERS, (limit, (limit + 1) // 2), strict=True):
            found += self._fetch(self._filtered(Query.all_query(), filters), many, order)
        return list({bullet.path: bullet for bullet in found}.values())

    def everything(self) -> list[PackedBullet]:
        """Return all bullets."""
        return self._fetch(Query.all_query(), max(1, self.size))

    def _clauses(self, query: LexicalQuery) -> list[Any]:
        weights: dict[tuple[str, str], float] = {}
        for term in query.terms:
            weights[("exact", term.exact)] = EXACT_BOOST
            for stem in term.stems:
                weights[("stems", stem)] = STEM_BOOST / len(term.stems)
            for piece in term.pieces:
                for stem in piece:
                    weights.setdefault(("stems", stem), PIECE_BOOST / len(piece))
        for name in query.names:
            weights[("meta", name)] = META_BOOST
        schema = self._schema
        clauses = [
            Query.boost_query(Query.term_query(schema, view, text, "freq"), weight)
            for (view, text), weight in weights.items()
        ]
        rare = log(1 + self.size)
        clauses += [
            Query.boost_query(
                Query.fuzzy_term_query(schema, "stems", fold(word), distance), FUZZY_BOOST * rare
            )
            for word, distance in query.fuzzy
        ]
        return clauses

    def _filtered(self, query: Any, filters: Filters) -> Any:
        if not filters.required and not filters.forbidden:
            return query
        parts = [(Occur.Must, query)]
        parts += [(Occur.Must, self._facet(facet)) for facet in filters.required]
        parts += [(Occur.MustNot, self._facet(facet)) for facet in filters.forbidden]
        return Query.boolean_query(parts)

    def _facet(self, facet: str) -> Any:
        return Query.const_score_query(self._one_facet(facet), 0.0)

    def _one_facet(self, facet: str) -> Any:
        return Query.term_query(self._schema, "facet", packing.facet_term(facet), "basic")

    def _fetch(self, query: Any, limit: int, order: str = "") -> list[PackedBullet]:
        hits = self._search(query, limit, order=order).hits
        if len(hits) > REMEMBERED:
            return _guard(self._load_all, hits)  # type: ignore[no-any-return]
        if len(self._read) > REMEMBERED:
            self._read.clear()
        return _guard(self._load_new, hits)  # type: ignore[no-any-return]

    def _load_all(self, hits: Any) -> list[PackedBullet]:
        doc = self._searcher.doc
        return [packing.load(doc(address).get_first("packed")) for _, address in hits]

    def _load_new(self, hits: Any) -> list[PackedBullet]:
        """Return the bullets at these addresses; what is near in words and in meaning is read once."""
        doc, read, found = self._searcher.doc, self._read, []
        for _, address in hits:
            key = (address.segment_ord, address.doc)
            bullet = read.get(key)
            if bullet is None:
                bullet = read[key] = packing.load(doc(address).get_first("packed"))
            found.append(bullet)
        return found

    def _search(self, query: Any, limit: int, *, count: bool = False, order: str = "") -> Any:
        return _guard(self._searcher.search, query, limit, count, *((order,) if order else ()))


def join(parts: Sequence[str], folder: str) -> LexicalIndex:
    """Make one index of several that were built apart, and open it; the parts are used up.

    An index is its segments, whose names are unique, and a list of them: joining is a matter of renaming
    files and of joining lists. Raises IndexUnavailableError when the parts are not what this knows.
    """
    import json

    def joined() -> LexicalIndex:
        metas, managed = [], []
        for part in parts:
            metas.append(_read_json(json, part, "meta.json"))
            managed.append(_read_json(json, part, ".managed.json"))
            for name in os.listdir(part):
                if not name.startswith((".", "meta.")):
                    os.rename(os.path.join(part, name), os.path.join(folder, name))
        meta = metas[0] | {
            "segments": [segment for meta in metas for segment in meta["segments"]],
            "opstamp": max(meta["opstamp"] for meta in metas),
        }
        _write_json(json, folder, ".managed.json", sorted({name for names in managed for name in names}))
        _write_json(json, folder, "meta.json", meta)
        index = LexicalIndex.open(folder)
        if index.size != sum(segment["max_doc"] for segment in meta["segments"]):
            raise IndexUnavailableError("the parts of the index cannot be joined")
        return index

    os.makedirs(folder)
    index: LexicalIndex = _guard(joined)
    return index


def _set_blocks(folder: str) -> None:
    """Set the size of the blocks of stored bullets, which tantivy takes from the list of segments alone."""
    import json

    meta = _read_json(json, folder, "meta.json")
    meta["index_settings"] |= {"docstore_blocksize": BLOCK_BYTES}
    _write_json(json, folder, "meta.json", meta)


def _read_json(json: Any, folder: str, name: str) -> Any:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def _write_json(json: Any, folder: str, name: str, value: Any) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file)


def _write(writer: Any, schema: Any, entries: Iterable[dict[str, Any]]) -> None:
    from itertools import islice

    make = tantivy.Document.from_dict  # one call for all fields takes a third of the time of one call a field
    pending = iter(entries)
    while burst := [make(entry, schema) for entry in islice(pending, BURST)]:
        for document in burst:
            writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


_WORDS = {
    "StorageFull": "cannot be written: the disk is full",
    "os error 28": "cannot be written: the disk is full",
    "os error 122": "cannot be written: the disk quota is used up",
    "FileAlreadyExists": "was left by an interrupted write; it is rebuilt",
    "LockFailure": "is being written by another process",
    "PermissionDenied": "cannot be opened: permission is denied",
    "ReadOnlyFilesystem": "cannot be written: the file system is read-only",
}
"""What tantivy's errors say, which are structures of Rust in text."""


def _in_words(error: Exception) -> str:
    """Return what happened for a reader; an error without words of its own means damaged bytes."""
    said = str(error)
    known = next((words for sign, words in _WORDS.items() if sign in said), "")
    return known or ("is damaged" if "{" in said else f"cannot be used: {said}")


def _guard(action: Any, *arguments: Any) -> Any:
    """Call tantivy and translate its errors: mostly plain ValueErrors, and panics on damaged files."""
    try:
        return action(*arguments)
    except IndexUnavailableError:
        raise
    except Exception as error:
        raise IndexUnavailableError(f"the lexical index {_in_words(error)}", hint="memx reindex") from error
    except BaseException as error:
        # A Rust panic is no Exception, so that nobody catches it by accident; here it means damaged bytes.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexUnavailableError("the lexical index is damaged", hint="memx reindex") from error
