"""How well a search finds what is there: every layer, the usual ways to combine them, and the product.

    python benchmarks/retrieval.py [--queries N] [--own] [--cache FOLDER]

Known-item search over ../shared/eval (notes: title finds text; tldr: description
finds text, in a language and across), misspelt and metadata queries made from
the same notes with a fixed seed. A store that mixes notes with pages of which each is
there in one language only asks the hardest of questions: in another language
than the one right bullet, among many bullets in the question's own. These
queries fall into two halves by a hash: constants were chosen on the first, the
tables show both, the verdicts are of the second.

Then our own lessons (data/lessons.retrieval.jsonl), 160 in four languages with the
questions that should find them: in the lesson's words, misspelt, as one who knows
the names asks, as one who sees only the symptom describes it (a paraphrase: no
telling word is in the lesson), and by tag or tool; question and paraphrase in the
three other languages, too. They are searched alone, which is a team's store, and
among all notes and pages. They were written without a look at the
product's word lists, and no constant may be chosen on them.

Last, a store with bullets spread over two years, with decay and without.
"""

# ruff: noqa: ANN001, ANN002, ANN201, ANN202, ANN204

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memx.config import DecayConfig, EmbeddingConfig, GeneratorConfig
from memx.decay import weight
from memx.generator.generator import Generator, default_engines
from memx.generator.scopes import Viewer
from memx.generator.vector import VectorSearcher
from memx.index.index import make_analyser
from memx.index.lexical import LexicalIndex
from memx.index.packed import pack
from memx.index.query import LexicalQuery
from memx.index.snapshot import Snapshot
from memx.index.vectors import Vectors
from memx.model import Bullet, StoredBullet

HERE = os.path.dirname(os.path.abspath(__file__))
EVAL = os.path.join(HERE, "..", "..", "shared", "eval")
SEED = 20261130
DAY = 86_400.0
NOW = 1_796_000_000.0
DEPTH = 100
LAYERS = ("L1", "L2", "L3", "L4")
RIVALS = ("BM25", "dense", "RRF")
LANGUAGES = ("en", "zh", "ja", "es")
ABOUT = {
    "en": "knowledge about {}",
    "zh": "关于 {} 的知识",
    "ja": "{} に関する知識",
    "es": "conocimiento sobre {}",
}
SYSTEMS = ("L1", "L2", "L3", "L4", "BM25", "dense", "RRF", "max-norm", "memx")
ALONE, HIDDEN = "own lessons alone", "own lessons among notes and pages"
ACROSS = "across languages"
ANALYSER = make_analyser()


def read(name, folder=EVAL):
    """Return the objects of a JSON-lines file."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Store:
    """Bullets in memory with real words and vectors."""

    def __init__(self, rows, folder, lessons=()):
        """Index (name, text, tags, created) rows and lessons, which have tools and entities as well."""
        self.vectors = Vectors.open(EmbeddingConfig(), folder)
        bullets = [
            Bullet(id=name, text=text, tags=tuple(tags), created=created)
            for name, text, tags, created in rows
        ]
        bullets += [Bullet(id=lesson["id"], text=lesson["text"], **metadata(lesson)) for lesson in lessons]
        self.packed = [pack(StoredBullet(bullet, bullet.id), ANALYSER) for bullet in bullets]
        self.vectors.ensure(self.packed)
        self.index = LexicalIndex.in_memory()
        self.index.apply(self.packed, bulk=True)
        self.snapshot = Snapshot(self.index, ("project",))

    def generator(self, decay=lambda _bullet: 1.0):
        """Return a generator with all layers."""
        engines = default_engines(VectorSearcher([self.vectors]))
        return Generator(
            [self.snapshot], ANALYSER, GeneratorConfig(), Viewer(), engines, now=NOW, decay=decay
        )

    def rankings(self, text):
        """Return {system: ids in order} for a query."""
        generator = self.generator()
        query = generator.query(text)
        scored = generator.score(query, generator._candidates(query))  # noqa: SLF001
        by = {name: ordered(scored, name) for name in ("l1", "l2", "l3", "semantic")}
        asked = LexicalQuery(tuple(w.term for w in query.terms if not w.is_stopword))
        words = [b.id for b in self.index.candidates(asked, DEPTH)]
        vector = VectorSearcher([self.vectors])
        near = vector.nearest(DEPTH) if vector.prepare(text) else []
        ids = {b.vector_key: b.id for b in self.packed}
        dense = [ids[key] for key in near if key in ids]
        product = [s.bullet.id for s in generator.answers(scored)]
        return {
            "L1": by["l1"],
            "L2": by["l2"],
            "L3": by["l3"],
            "L4": by["semantic"],
            "BM25": words,
            "dense": dense,
            "RRF": reciprocal(words, dense),
            "max-norm": max_normalised(scored),
            "memx": product,
        }


def metadata(lesson):
    """Return a lesson's tags, tools and entities."""
    return {key: tuple(lesson[key]) for key in ("tags", "tools", "entities")}


def ordered(scored, name):
    """Return the ids by one layer's score, without those that it gives nothing."""
    found = [(-getattr(s, name), s.bullet.id) for s in scored if getattr(s, name) > 0]
    return [identifier for _, identifier in sorted(found)]


def reciprocal(*rankings, k=60):
    """Return reciprocal rank fusion."""
    scores = {}
    for ranking in rankings:
        for rank, identifier in enumerate(ranking, 1):
            scores[identifier] = scores.get(identifier, 0) + 1 / (k + rank)
    return sorted(scores, key=lambda i: (-scores[i], i))


def max_normalised(scored):
    """Return 0.6 keyword / 0.4 semantic with each divided by the query's best: what memx does not do."""
    best_word = max((s.keyword for s in scored), default=0) or 1
    best_near = max((s.semantic for s in scored), default=0) or 1
    found = [(-(0.6 * s.keyword / best_word + 0.4 * s.semantic / best_near), s.bullet.id) for s in scored]
    return [identifier for _, identifier in sorted(found)]


def rank_of(ranking, good):
    """Return the place of the first right answer from 0, or a large number."""
    return next((i for i, identifier in enumerate(ranking) if identifier in good), 10**6)


def measures(ranks):
    """Return Recall@5, Recall@10, MRR@10 and nDCG@10 of one relevant bullet a query, a row a query."""
    ranks = np.asarray(ranks, dtype=float)
    top = ranks < 10
    return np.stack([ranks < 5, top, top / (ranks + 1), top / np.log2(ranks + 2)], axis=1)


def interval(rows, rounds=1000):
    """Return the 95 % bootstrap interval of each column's mean."""
    rng = np.random.default_rng(SEED)
    picks = rng.integers(0, len(rows), (rounds, len(rows)))
    means = rows[picks].mean(axis=1)
    return np.quantile(means, [0.025, 0.975], axis=0)


def misspell(text, rng):
    """Return a text with one slip in each of its two longest plain words."""
    words = text.split()
    plain = sorted((w for w in words if w.isalpha() and w.isascii() and len(w) >= 5), key=len)[-2:]
    for word in plain:
        at = rng.randrange(1, len(word) - 1)
        slip = rng.choice(
            (word[:at] + word[at + 1 :], word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :])
        )
        words = [slip if w == word else w for w in words]
    return " ".join(words), bool(plain)


def is_alias(row):
    """Return whether a tldr page only names another one, so that many pages are the same."""
    return row["text"].count("\n") < 2


def known_items(count, folder, rng):
    """Yield (set, kind, language, store, queries) of the data in ../shared/eval."""
    notes = read("notes.dev.jsonl")
    store = Store([(n["id"], n["text"], [n["category"]], None) for n in notes], os.path.join(folder, "notes"))
    picked = rng.sample(notes, min(count, len(notes)))
    yield "notes", "exact", "en", store, [(n["title"], {n["id"]}) for n in picked]
    slips = [(misspell(n["title"], rng), {n["id"]}) for n in picked]
    yield "notes", "misspelt", "en", store, [(text, good) for (text, has), good in slips if has]
    rare = metadata_queries(notes)
    yield "notes", "metadata", "en", store, rng.sample(rare, min(count, len(rare)))
    pages = [row for row in read("tldr.dev.jsonl") if not is_alias(row)]
    by_page = {}
    for row in pages:
        by_page.setdefault(row["page"], {})[row["lang"]] = row["id"]
    for lang in LANGUAGES:
        rows = [row for row in pages if row["lang"] == lang]
        store = Store([(r["id"], r["text"], [], None) for r in rows], os.path.join(folder, lang))
        picked = rng.sample(rows, min(count, len(rows)))
        yield "tldr", "exact", lang, store, [(r["description"], {r["id"]}) for r in picked]
        for other in LANGUAGES:
            if other == lang or "en" not in (lang, other):
                continue
            asked = [r for r in pages if r["lang"] == other and lang in by_page[r["page"]]]
            asked = rng.sample(asked, min(count // 2, len(asked)))
            queries = [(r["description"], {by_page[r["page"]][lang]}) for r in asked]
            yield "tldr", "cross-language", f"{other}>{lang}", store, queries


def mixed_store(count, folder, rng):
    """Yield the sets of a store of notes and of pages of which each is there in one language only."""
    notes = read("notes.dev.jsonl")
    by_page = {}
    for row in read("tldr.dev.jsonl"):
        if not is_alias(row):
            by_page.setdefault(row["page"], {})[row["lang"]] = row
    kept = {page: rng.choice(sorted(rows)) for page, rows in by_page.items()}
    bullets = [(by_page[p][lang]["id"], by_page[p][lang]["text"], [], None) for p, lang in kept.items()]
    bullets += [(n["id"], n["text"], [n["category"]], None) for n in notes]
    store = Store(bullets, os.path.join(folder, "mixed"))
    picked = rng.sample(notes, min(count, len(notes)))
    yield "mixed", "exact", "en", store, [(n["title"], {n["id"]}) for n in picked]
    for lang in LANGUAGES:
        own = [by_page[page][lang] for page, chosen in kept.items() if chosen == lang]
        own = rng.sample(own, min(count, len(own)))
        yield "mixed", "exact", lang, store, [(row["description"], {row["id"]}) for row in own]
        asked = [
            (row["description"], {by_page[page][lang]["id"]})
            for page, chosen in kept.items()
            if chosen == lang
            for other, row in by_page[page].items()
            if other != lang
        ]
        yield (
            "mixed",
            "cross, mixed store",
            f"*>{lang}",
            store,
            rng.sample(asked, min(count // 2, len(asked))),
        )


def metadata_queries(notes):
    """Return queries that name a tag which few notes have, with one telling word of the text left out."""
    by_tag = {}
    for note in notes:
        by_tag.setdefault(note["category"], set()).add(note["id"])
    return [(f"knowledge about {tag}", ids) for tag, ids in sorted(by_tag.items()) if len(ids) <= 10]


def own_lessons(folder):
    """Yield our own lessons: alone, and among all notes and pages as distractors."""
    lessons = read("lessons.retrieval.jsonl", os.path.join(HERE, "data"))
    notes = read("notes.dev.jsonl")
    rows = [(n["id"], n["text"], [n["category"]], None) for n in notes]
    rows += [(r["id"], r["text"], [], None) for r in read("tldr.dev.jsonl") if not is_alias(r)]
    named = named_by(lessons, notes)
    alone = Store([], os.path.join(folder, "lessons"), lessons)
    yield from questions(ALONE, alone, lessons, named)
    yield from questions(HIDDEN, Store(rows, os.path.join(folder, "hidden"), lessons), lessons, named)


def named_by(lessons, notes):
    """Return {tag or tool of a lesson: ids of all bullets that carry it}."""
    named = {name: set() for lesson in lessons for name in (*lesson["tags"], *lesson["tools"])}
    for row in (*lessons, *notes):
        for name in (*row.get("tags", ()), *row.get("tools", ()), row.get("category")):
            if name in named:
                named[name].add(row["id"])
    return named


def questions(name, store, lessons, named):
    """Yield the sets of questions to our lessons by kind and language, or question's > lesson's language."""
    for lang in LANGUAGES:
        mine = [lesson for lesson in lessons if lesson["lang"] == lang]
        for kind in ("exact", "misspelt"):
            yield name, kind, lang, store, [(x["queries"][kind], {x["id"]}) for x in mine]
        tags = sorted({tag for x in mine for tag in (*x["tags"], *x["tools"])})
        yield name, "metadata", lang, store, [(ABOUT[lang].format(tag), named[tag]) for tag in tags]
        for kind in ("question", "paraphrase"):
            for asked in LANGUAGES:
                label = (kind, lang) if asked == lang else (f"{kind} {ACROSS}", f"{asked}>{lang}")
                yield name, *label, store, [(x["queries"][kind][asked], {x["id"]}) for x in mine]


def half_of(text):
    """Return 0 for the half of the queries that constants were chosen on, 1 for the other."""
    return hashlib.md5(text.encode(), usedforsecurity=False).digest()[1] % 2


def evaluate(sets):
    """Return [(set, kind, language, half, {system: rows of measures})], printing progress on stderr."""
    results = []
    for name, kind, lang, store, queries in sets:
        started = time.perf_counter()
        ranks = [{system: [] for system in SYSTEMS} for _ in range(2)]
        for text, good in queries:
            for system, ranking in store.rankings(text).items():
                ranks[half_of(text)][system].append(rank_of(ranking, good))
        results += [
            (name, kind, lang, half, {s: measures(r) for s, r in ranks[half].items()})
            for half in range(2)
            if ranks[half]["memx"]
        ]
        spent = 1000 * (time.perf_counter() - started) / max(1, len(queries))
        print(f"{name} {kind} {lang}: {len(queries)} queries, {spent:.0f} ms each", file=sys.stderr)
    return results


def print_table(title, results):
    """Print Recall@5 / MRR@10 of every system, the interval of memx, and memx against the best layer."""
    print(f"\n{title} (Recall@5 / MRR@10; +- is memx minus the best other system in MRR, paired, 95 %)")
    print(f"{'set':40}{'n':>5} " + "".join(f"{s:>10}" for s in SYSTEMS) + "   paired")
    for label, tables in results:
        means = {system: rows.mean(axis=0) for system, rows in tables.items()}
        best = max((s for s in SYSTEMS if s != "memx"), key=lambda s: means[s][2])
        low, high = interval(tables["memx"] - tables[best])[:, 2]
        cells = "".join(f"{means[s][0]:>5.2f}/{means[s][2]:.2f}" for s in SYSTEMS)
        print(f"{label:40}{len(tables['memx']):>5} {cells}   {best} {low:+.3f}..{high:+.3f}")


def merge(results, key):
    """Join results whose key is the same."""
    groups = {}
    for name, kind, lang, half, tables in results:
        group = groups.setdefault(key(name, kind, lang, half), {s: [] for s in SYSTEMS})
        for system, rows in tables.items():
            group[system].append(rows)
    return [(label, {s: np.concatenate(r) for s, r in group.items()}) for label, group in groups.items()]


def print_verdicts(results):
    """Say for each kind whether the product is not worse than its best single layer, and overall what it beats."""
    print("\nnot worse than the best single layer (paired 95 % interval of the difference reaches 0)?")
    print(f"{'kind':28}{'n':>6}  {'Recall@5':34}{'MRR@10':34}")
    for label, tables in merge(results, lambda _n, kind, _l, _h: kind):
        cells = "".join(f"{verdict(tables, column, LAYERS, worse):34}" for column, worse in ((0, 1), (2, 1)))
        print(f"{label:28}{len(tables['memx']):>6}  {cells}")
    everything = merge(results, lambda _n, _k, _l, _h: "all")[0][1]
    print("\nbetter overall (interval above 0)?")
    for rival in (*RIVALS, "max-norm"):
        cells = "".join(f"{verdict(everything, column, (rival,), 0):34}" for column in (0, 2))
        print(f"{rival:22}{len(everything['memx']):>6}  {cells}")


def verdict(tables, column, rivals, bound):
    """Return yes or no, the best rival and the interval; `bound` 1: its upper end reaches 0, 0: its lower is above."""
    best = max(rivals, key=lambda s: tables[s][:, column].mean())
    low, high = interval(tables["memx"] - tables[best])[:, column]
    is_met = high >= 0 if bound else low > 0
    return f"{'yes' if is_met else 'NO':4}{best} {low:+.3f}..{high:+.3f}"


def print_overall(tables):
    """Print all four measures with their intervals."""
    print("\nall queries: Recall@5, Recall@10, MRR@10, nDCG@10 with 95 % bootstrap intervals")
    for system in SYSTEMS:
        low, high = interval(tables[system])
        mean = tables[system].mean(axis=0)
        cells = "  ".join(f"{m:.3f} [{a:.3f}, {b:.3f}]" for m, a, b in zip(mean, low, high, strict=True))
        print(f"{system:10}{cells}")


def decay_table(count, folder, rng):
    """Print what decay costs on a store of two years for queries whose only answer is old."""
    notes = read("notes.dev.jsonl")
    created = {n["id"]: NOW - rng.random() * 730 * DAY for n in notes}
    rows = [(n["id"], n["text"], [n["category"]], created[n["id"]]) for n in notes]
    store = Store(rows, os.path.join(folder, "decay"))
    config = DecayConfig()

    def weigh(b):
        return weight(NOW, b.created, None, None, 0, b.type, None, False, config).weight  # noqa: FBT003

    print("\nage against relevance: Recall@5 for queries whose only answer is that old (two-year store)")
    print(f"{'age of the answer':22}{'n':>5}{'no decay':>10}{'default':>10}{'no cut':>10}")
    for low, high in ((0, 90), (90, 365), (365, 730)):
        asked = [n for n in notes if low <= (NOW - created[n["id"]]) / DAY < high]
        asked = rng.sample(asked, min(count, len(asked)))
        found = [0, 0, 0]
        for note in asked:
            plain = [s.bullet.id for s in store.generator().rank(note["title"]).hits]
            faded = [s.bullet.id for s in store.generator(weigh).rank(note["title"]).hits]
            generator = store.generator(weigh)
            query = generator.query(note["title"])
            scored = generator.score(query, generator._candidates(query))  # noqa: SLF001
            uncut = [s.bullet.id for s in sorted(scored, key=lambda s: -s.score)[:5]]
            for i, ids in enumerate((plain, faded, uncut)):
                found[i] += note["id"] in ids
        shares = "".join(f"{f / len(asked):>10.3f}" for f in found)
        print(f"{f'{low}-{high} days':22}{len(asked):>5}{shares}")


def print_known(results):
    """Print everything that comes from the rankings of notes and pages."""
    print_table("each set", merge(results, lambda n, k, lang, _h: f"{n} {k} {lang}"))
    print_table("by kind", merge(results, lambda _n, kind, _l, _h: kind))
    print_table("by language of the bullets", merge(results, lambda _n, _k, lang, _h: lang[-2:]))
    known = [r for r in results if r[0] in ("notes", "tldr") and r[1] == "exact"]
    print_table("known items", merge(known, lambda _n, _k, _l, _h: "notes and tldr in their language"))
    halves = ("the half that constants were chosen on", "the other half")
    print_table("halves", sorted(merge(results, lambda _n, _k, _l, half: halves[half]), reverse=True))
    print_overall(merge(results, lambda _n, _k, _l, _h: "all")[0][1])
    print("\nThe verdicts, of the other half only:")
    print_verdicts([r for r in results if r[3] == 1])
    print("\nand of all queries:")
    print_verdicts(results)


def print_own(name, results):
    """Print everything that comes from the rankings of our own lessons in one store."""
    print(f"\n==== {name} ====")
    print_table("by kind and language", merge(results, lambda _n, kind, lang, _h: f"{kind} {lang}"))
    print_table("by kind", merge(results, lambda _n, kind, _l, _h: kind))
    print_table("by language of the lesson", merge(results, lambda _n, _k, lang, _h: lang[-2:]))
    spread = ("in the lesson's language", ACROSS)
    print_table("in all", merge(results, lambda _n, _k, lang, _h: spread[">" in lang]))
    print_overall(merge(results, lambda _n, _k, _l, _h: "all")[0][1])
    print_verdicts(results)


def main():
    """Run everything and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=200, help="at most this many queries a set")
    parser.add_argument("--cache", help="a folder that keeps the vectors from run to run")
    parser.add_argument("--own", action="store_true", help="our own lessons only")
    chosen = parser.parse_args()
    count, rng = chosen.queries, random.Random(SEED)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.cache or temporary
        if not chosen.own:
            print_known(evaluate((*known_items(count, folder, rng), *mixed_store(count, folder, rng))))
        own = evaluate(own_lessons(folder))
        for name in (ALONE, HIDDEN):
            print_own(name, [result for result in own if result[0] == name])
        if not chosen.own:
            decay_table(count, folder, rng)


if __name__ == "__main__":
    main()
