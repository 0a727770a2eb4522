"""The use case of searching, from files to the JSON document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memx.app.search import HIT_KEYS, SearchRequest, SearchStore, hit_document, search
from memx.app.why_not import why_not
from memx.config import Config, DecayConfig, GeneratorConfig
from memx.errors import IndexUnavailableError, StoreError, UsageError
from memx.generator.generator import Engines, default_engines
from memx.generator.scopes import Viewer
from memx.index.index import Index, IndexPlace
from memx.index.lexical import LexicalIndex
from memx.index.vectors import Vectors
from memx.model import Bullet
from memx.store.codec import format_bullet
from memx.store.journal import Journal
from tests.support.damage import overwrite

if TYPE_CHECKING:
    from pathlib import Path

    from memx.app.search import SearchAnswer
    from memx.app.why_not import WhyNot

NOW = 1_796_000_000.0
DAY = 86_400.0

HOSTILE = (
    *(
        "foo:bar",
        "title:",
        '"unbalanced',
        "AND",
        "a AND",
        "NOT",
        "C++",
        "[",
        ")",
        "{}",
        "-foo",
        "+",
        "don't",
        "'it",
    ),
    *(
        "std::vector",
        "interface{}",
        "https://x.y/z",
        "feat(api): add",
        "Fix: [ERROR] x",
        "a/b.py:12",
        "`code`",
    ),
    *(
        "\\",
        "/re/",
        ">=5",
        "😀:x",
        "a\0b",
        "\ud83d",
        "*",
        "?",
        "~",
        "^2",
        "a" * 10_000,
        "汉" * 5_000,
        "%s %d",
        "&&",
    ),
)


class Shop:
    """A store with its index, searched at a fixed time."""

    def __init__(self, folder: Path, *, has_vectors: bool = False, name: str = "project") -> None:
        """Make an empty store."""
        self.folder = folder
        self.name = name
        self.root = folder / ".memx"
        self.has_vectors = has_vectors
        self.root.mkdir(parents=True)

    def add(self, identifier: str, text: str, *, archived: bool = False, **fields: object) -> None:
        """Write a bullet of a month ago, unless `created` says otherwise."""
        values = {"created": NOW - 30 * DAY, "section": "general", **fields}
        bullet = Bullet(id=f"{identifier:0<10}", text=text, **values)  # type: ignore[arg-type]
        folder = self.root / ("archive" if archived else "bullets") / bullet.section
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{identifier}.md").write_bytes(format_bullet(bullet))

    def store(self) -> SearchStore:
        """Return the store as a new process opens it."""
        vectors = Vectors.open(Config().embedding, str(self.folder / "vectors")) if self.has_vectors else None
        place = IndexPlace(str(self.root), str(self.folder / "cache"), self.name)
        journal = Journal(str(self.folder / "state"))
        return SearchStore(Index(place, vectors), str(self.root), journal.counts())

    def search(
        self,
        query: str,
        *,
        config: Config | None = None,
        viewer: Viewer | None = None,
        engines: Engines | None = None,
        now: float = NOW,
        **flags: object,
    ) -> SearchAnswer:
        """Answer a question."""
        return search(
            SearchRequest(query, **flags),  # type: ignore[arg-type]
            [self.store()],
            config=config or Config(),
            now=now,
            viewer=viewer or Viewer("project", "shop"),
            engines=engines,
        )

    def ids(self, query: str, **flags: object) -> list[str]:
        """Return the names of the hits."""
        return [hit.path.rpartition("/")[2][:-3] for hit in self.search(query, **flags).hits]  # type: ignore[arg-type]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A store without vectors."""
    return Shop(tmp_path)


@pytest.fixture
def full_shop(tmp_path: Path) -> Shop:
    """A store with the bundled model."""
    return Shop(tmp_path, has_vectors=True)


def test_document_has_the_designs_names(shop: Shop) -> None:
    """One JSON document with the score of every layer."""
    shop.add("redis", "Redis timeouts: MAX_POOL_SIZE 10 is too small, 50 is stable", tags=("redis",))
    document = json.loads(json.dumps(shop.search("MAX_POOL_SIZE").document()))
    assert set(document) >= {"version", "query", "scope", "hits", "degraded", "problems", "tokens"}
    hit = document["hits"][0]
    assert set(HIT_KEYS) == set(hit)
    assert (hit["id"], hit["l1"], hit["l2"], hit["decay"], hit["scope_boost"]) == (
        "redis00000",
        15.0,
        10.0,
        0.5,
        1.3,
    )
    assert hit["score"] == hit["blended"] * hit["decay"] * hit["recency_boost"] * hit["scope_boost"]
    assert document["degraded"] == ["l4: there are no vectors"]
    assert document["tokens"] == 15


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:12]))
def test_query_of_any_kind_is_plain_text(shop: Shop, query: str) -> None:
    """Faults 41: nothing a user types is syntax."""
    shop.add("a", "Use std::vector and C++ with interface{} at https://x.y/z, don't touch a/b.py:12 >=5")
    answer = shop.search(query)
    assert len(answer.hits) <= 1


@pytest.mark.parametrize(
    "query", ["std::vector", "C++", "https://x.y/z", "a/b.py:12", ">=5", "don't", "interface{}"]
)
def test_hostile_query_finds_what_it_names(shop: Shop, query: str) -> None:
    """Plain text also means that it is found."""
    shop.add("a", "Use std::vector and C++ with interface{} at https://x.y/z, don't touch a/b.py:12 >=5")
    assert shop.ids(query) == ["a"]


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\0"])
def test_blank_query_is_a_friendly_usage_error(shop: Shop, query: str) -> None:
    """It says so, with an example."""
    with pytest.raises(UsageError, match="blank"):
        shop.search(query)


@pytest.mark.parametrize(
    "flags",
    [{"section": "nope"}, {"type": "nope"}, {"max_results": 0}, {"token_budget": -1}, {"scope": "team"}],
)
def test_unknown_filter_is_a_usage_error(shop: Shop, flags: dict[str, object]) -> None:
    """A misspelt filter would otherwise look like an empty store."""
    with pytest.raises(UsageError):
        shop.search("x", **flags)  # type: ignore[arg-type]


def test_filters_archive_and_case(shop: Shop) -> None:
    """Section and type in any case, tags, archived ones on request."""
    shop.add("a", "alpha one", section="tools", type="trick", tags=("Redis",))
    shop.add("b", "alpha two", archived=True)
    assert shop.ids("alpha") == ["a"]
    assert sorted(shop.ids("alpha", archived=True)) == ["a", "b"]
    assert shop.ids("alpha", section="TOOLS", type="Trick", tag=("redis",)) == ["a"]
    assert shop.ids("alpha", section="general") == []


def test_default_is_five_hits_and_fewer_when_the_budget_ends(shop: Shop) -> None:
    """max_results and token_budget, from the config or from flags."""
    for number in range(8):
        shop.add(f"n{number}", f"alpha {number} " + "word " * 200)
    answer = shop.search("alpha")
    assert len(answer.hits) == 5
    assert answer.tokens <= 2000
    assert len(shop.search("alpha", max_results=7).hits) == 7
    assert len(shop.search("alpha", config=Config(generator=GeneratorConfig(max_results=2))).hits) == 2
    few = shop.search("alpha", token_budget=300)
    assert [hit.truncated for hit in few.hits] == [False, True]
    assert few.tokens <= 300
    assert few.hits[1].text.endswith("[…]")
    budget = GeneratorConfig(token_budget=300)
    assert shop.search("alpha", config=Config(generator=budget)).hits == few.hits


CHANGED_KEYS: dict[str, float] = {
    "keyword_weight": 0.1,
    "semantic_weight": 0.9,
    "max_results": 1,
    "token_budget": 20,
    "recency_boost": 3.0,
    "recency_days": 90.0,
    "scope_boost": 2.0,
    "cjk_chars_per_token": 0.5,
    "latin_chars_per_token": 0.5,
}


def test_every_key_of_the_generator_has_its_test() -> None:
    """A key that nobody tests below may as well not exist."""
    assert set(CHANGED_KEYS) == set(GeneratorConfig.__annotations__)


@pytest.mark.parametrize("key", CHANGED_KEYS)
def test_changed_key_changes_the_answer(full_shop: Shop, key: str) -> None:
    """Each key of the generator, changed alone, changes the document."""
    full_shop.add("redis", "Redis timeouts come from the pool ceiling 汉字汉字")
    full_shop.add("kafka", "Kafka has a pool of consumers that lag behind their offsets", created=NOW)
    plain = full_shop.search("redis pool timeouts").document()
    config = Config(generator=GeneratorConfig(**{key: CHANGED_KEYS[key]}))  # type: ignore[arg-type]
    assert len(plain["hits"]) == 2
    assert full_shop.search("redis pool timeouts", config=config).document() != plain


@pytest.mark.parametrize("key", ["cjk_chars_per_token", "latin_chars_per_token"])
def test_token_ratio_changes_the_result(shop: Shop, key: str) -> None:
    """Both ratios of the estimate are used."""
    shop.add("a", "alpha 汉字汉字")
    config = Config(generator=GeneratorConfig(**{key: 0.5}))  # type: ignore[arg-type]
    assert shop.search("alpha", config=config).tokens > shop.search("alpha").tokens


@pytest.mark.parametrize(
    ("viewer", "seen"),
    [
        (Viewer("global"), {"global"}),
        (Viewer("project", "shop"), {"global", "own", "plain"}),
        (Viewer("workspace", "shop", "feat"), {"global", "own", "plain", "ws"}),
    ],
    ids=["global", "project", "workspace"],
)
def test_visibility_holds_in_the_search(shop: Shop, viewer: Viewer, seen: set[str]) -> None:
    """Viewer by bullet, on words."""
    scopes = {"global": "global", "plain": "project", "own": "project:shop", "other": "project:other",
              "ws": "workspace:feat", "sibling": "workspace:pay"}  # fmt: skip
    for name, scope in scopes.items():
        shop.add(name, f"alpha {name}", scope=scope)
    assert set(shop.ids("alpha", viewer=viewer, max_results=10)) == seen
    assert set(shop.ids("alpha", scope="workspace:pay", max_results=10)) == {
        "global",
        "own",
        "plain",
        "sibling",
    }


def test_recalls_pending_in_the_journal_count(shop: Shop) -> None:
    """Effective recalls are the file's and the journal's."""
    shop.add("a", "alpha", recall_count=2)
    journal = Journal(str(shop.folder / "state"))
    for _ in range(3):
        journal.record(["a000000000"], NOW, 0)
    hit = shop.search("alpha").hits[0]
    assert (hit.recall_count, hit.decay) == (5, pytest.approx(0.75))


def test_decay_config_and_time_count(shop: Shop) -> None:
    """The weight is the decay module's, at the given time."""
    shop.add("a", "alpha")
    config = Config(decay=DecayConfig(half_life_days=60, half_life_days_knowledge=60))
    assert shop.search("alpha", config=config).hits[0].decay == pytest.approx(2**-0.5)
    assert shop.search("alpha", now=NOW - 30 * DAY).hits[0].recency_boost == 1.2


def test_superseded_and_drifted_are_marked(shop: Shop) -> None:
    """A superseded bullet is history: shown with the archive, and marked; drift comes from the caller."""
    shop.add("old", "alpha old")
    shop.add("new", "alpha new", supersedes=("old0000000",))
    answer = search(
        SearchRequest("alpha", archived=True),
        [shop.store()],
        config=Config(),
        now=NOW,
        viewer=Viewer(),
        drifted=frozenset(("new0000000",)),
    )
    marks = {hit.id[:3]: (hit.superseded, hit.drifted) for hit in answer.hits}
    assert shop.ids("alpha") == ["new"]
    assert marks == {"old": (True, False), "new": (False, True)}


def test_broken_file_is_a_problem_and_no_hit(shop: Shop) -> None:
    """It is named with its path and treated as private."""
    shop.add("a", "alpha")
    (shop.root / "bullets" / "general" / "broken.md").write_text("---\nid: [\n---\nalpha\n")
    answer = shop.search("alpha")
    assert [hit.id for hit in answer.hits] == ["a000000000"]
    assert [problem.path for problem in answer.problems] == ["bullets/general/broken.md"]


def test_stores_are_searched_together_and_named(tmp_path: Path) -> None:
    """Each hit says which store it came from."""
    team, user = Shop(tmp_path / "team"), Shop(tmp_path / "user", name="user")
    team.add("a", "alpha pool")
    user.add("b", "alpha pool", scope="global")
    answer = search(
        SearchRequest("alpha pool"), [team.store(), user.store()], config=Config(), now=NOW, viewer=Viewer()
    )
    assert [(hit.store, hit.scope_boost) for hit in answer.hits] == [("project", 1.3), ("user", 1.0)]


@pytest.mark.parametrize(
    "query",
    [
        "how to improve test performance",
        "テストパフォーマンスを向上させる方法",
        "cómo mejorar el rendimiento de las pruebas",
    ],
)
def test_meaning_alone_finds_a_bullet(full_shop: Shop, query: str) -> None:
    """L4 needs no shared word, in any of the languages."""
    full_shop.add("speed", "Running pytest with xdist workers makes the suite finish faster")
    full_shop.add("redis", "The connection pool needs a ceiling of fifty")
    full_shop.add("css", "Centre a div with grid place-items")
    answer = full_shop.search(query)
    assert answer.degraded == ()
    assert answer.hits[0].id == "speed00000"
    assert answer.hits[0].semantic > 0


def test_switching_back_embeds_nothing(full_shop: Shop) -> None:
    """Vectors are kept by content, and only bullets that are there are found, on every layer."""
    full_shop.add("a", "Redis timeouts come from the pool ceiling")
    full_shop.search("redis")
    path = full_shop.root / "bullets" / "general" / "a.md"
    data = path.read_bytes()
    path.unlink()
    full_shop.add("b", "Kafka consumers lag behind their offsets")
    assert "a" not in full_shop.ids("redis timeouts from the pool ceiling")
    rows = len(full_shop.store().index.vectors.store)  # type: ignore[union-attr]
    path.write_bytes(data)
    assert full_shop.ids("redis timeouts from the pool ceiling")[0] == "a"
    assert len(full_shop.store().index.vectors.store) == rows == 2  # type: ignore[union-attr]


def test_answer_is_the_same_whatever_way_the_index_came_about(full_shop: Shop) -> None:
    """Same store, query and time give the same bytes: rebuilt, refreshed, or from memory."""
    for number in range(12):
        full_shop.add(f"n{number}", f"alpha {number} pool of connections number {number}")
    full_shop.search("alpha")
    full_shop.add("n3", "beta instead")
    (full_shop.root / "bullets" / "general" / "n4.md").unlink()
    refreshed = json.dumps(full_shop.search("alpha pool").document())
    full_shop.store().index.rebuild()
    rebuilt = json.dumps(full_shop.search("alpha pool").document())
    assert refreshed == rebuilt


def test_every_layer_absent_still_answers(shop: Shop) -> None:
    """Nothing works: no hits, and every layer is named."""
    shop.add("a", "alpha")
    answer = shop.search("alpha", engines=Engines(None, None, None, None))
    assert answer.hits == ()
    assert [entry[:2] for entry in answer.degraded] == ["l1", "l2", "l3", "l4"]


def test_tantivy_that_fails_at_every_search_is_said_and_answered(
    full_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even a new index helps: the files are scanned."""

    def fail(*_values: object, **_options: object) -> None:
        raise IndexUnavailableError("out of order")

    full_shop.add("a", "alpha pool")
    full_shop.search("alpha")
    monkeypatch.setattr(LexicalIndex, "_search", fail)
    answer = full_shop.search("alpha pool")
    assert [hit.id for hit in answer.hits] == ["a000000000"]
    assert answer.degraded == ("index: out of order",)


def test_damage_that_shows_late_is_recovered(shop: Shop) -> None:
    """A flipped byte in a stored bullet leads to a rebuild, not to an error."""
    shop.add("a", "alpha " * 50)
    shop.search("alpha")
    for path in (shop.folder / "cache").glob("gen-*/lexical/*.store"):
        data = bytearray(path.read_bytes())
        data[20] ^= 0xFF
        overwrite(path, bytes(data))
    assert shop.ids("alpha") == ["a"]


def test_why_not_names_the_reason(shop: Shop) -> None:
    """Scope, filter, archive, relevance, rank, budget and who took its place are told apart."""
    shop.add("seen", "alpha pool")
    shop.add("hidden", "alpha pool", scope="workspace:other")
    shop.add("old", "alpha pool", archived=True)
    shop.add("else", "kafka offsets")
    for number in range(6):
        shop.add(f"n{number}", "alpha pool", created=NOW)
    shop.add("last", "alpha pool", created=NOW - 600 * DAY)

    def reasons(identifier: str, **flags: object) -> str:
        request = SearchRequest("alpha pool", **flags)  # type: ignore[arg-type]
        found = why_not(
            f"{identifier:0<10}", request, [shop.store()], config=Config(), now=NOW, viewer=Viewer()
        )
        return "; ".join(found.reasons)

    assert reasons("n0") == ""
    assert "workspace:other is not visible" in reasons("hidden")
    assert "it is archived" in reasons("old")
    assert "not about that" in reasons("else")
    assert "ranks 7 by relevance" in reasons("last")
    assert "and 5 are shown" in reasons("last")
    assert "no section tools" in reasons("n0", section="tools")
    assert reasons("n4", token_budget=4) == "the token budget of 4 was spent before it"
    shop.add("heir", "kafka", supersedes=("n000000000", "seen000000"))
    assert reasons("seen") == "another bullet supersedes it: heir000000"
    with pytest.raises(StoreError):
        reasons("nowhere")


def test_why_not_tells_age_from_rank(shop: Shop) -> None:
    """A bullet as relevant as those shown lost to fresher ones, and one that is shown has its place among them."""
    for number in range(6):
        shop.add(f"n{number}", "alpha pool", created=NOW - (100 + number) * DAY)

    def explained(identifier: str) -> WhyNot:
        request = SearchRequest("alpha pool")
        return why_not(identifier, request, [shop.store()], config=Config(), now=NOW, viewer=Viewer())

    assert "are fresher" in explained("n500000000").reasons[0]
    assert [explained(hit.id).rank for hit in shop.search("alpha pool").hits] == [1, 2, 3, 4, 5]


def test_why_not_of_an_unseen_bullet_has_nothing_of_it(shop: Shop) -> None:
    """Neither path nor title nor a score: they speak of its words."""
    shop.add("secret-plan", "alpha pool", scope="project:other", title="Secret plan", source="human")
    viewer = Viewer("project", "shop")
    found = why_not(
        "secret-plan", SearchRequest("alpha pool"), [shop.store()], config=Config(), now=NOW, viewer=viewer
    )
    told = {key: value for key, value in hit_document(found.hit).items() if value}
    assert told == {"id": "secret-plan", "store": "project", "scope": "project:other"}
    assert (found.rank, len(found.reasons)) == (None, 1)


def both_stores(tmp_path: Path) -> list[SearchStore]:
    """A project, and a shared store that claims to supersede a bullet of it and one of its own."""
    own, shared = Shop(tmp_path / "own"), Shop(tmp_path / "shared", name="shared")
    own.add("ours", "alpha needs two approvals", pinned=True)
    shared.add("evil", "unrelated", scope="global", supersedes=("ours000000", "theirs0000"))
    shared.add("theirs", "alpha needs no approval", scope="global")
    return [own.store(), shared.store()]


@pytest.mark.parametrize("archived", [False, True])
def test_store_decides_about_its_own_bullets_only(tmp_path: Path, *, archived: bool) -> None:
    """What a shared store supersedes is superseded in that store and nowhere else."""
    answer = search(
        SearchRequest("alpha approvals", archived=archived),
        both_stores(tmp_path),
        config=Config(),
        now=NOW,
        viewer=Viewer(),
    )
    marks = {hit.id: hit.superseded for hit in answer.hits}
    assert marks == ({"ours000000": False, "theirs0000": True} if archived else {"ours000000": False})


def test_stores_that_supersede_each_others_bullets_are_no_rivals(tmp_path: Path) -> None:
    """A circle over two stores is none: neither is marked as in conflict."""
    own, shared = Shop(tmp_path / "own"), Shop(tmp_path / "shared", name="shared")
    own.add("ours", "alpha one", supersedes=("theirs0000",))
    shared.add("theirs", "alpha two", scope="global", supersedes=("ours000000",))
    stores = [own.store(), shared.store()]
    answer = search(SearchRequest("alpha"), stores, config=Config(), now=NOW, viewer=Viewer())
    assert {hit.id: (hit.superseded, hit.conflicts_with) for hit in answer.hits} == {
        "ours000000": (False, ()),
        "theirs0000": (False, ()),
    }


def test_conflict_named_on_one_side_marks_both(tmp_path: Path) -> None:
    """A bullet beside the one that names it is marked as well; the same id in another store is not."""
    own, shared = Shop(tmp_path / "own"), Shop(tmp_path / "shared", name="shared")
    own.add("a", "alpha pool is 10", conflicts_with=("b000000000", "elsewhere0"))
    own.add("b", "alpha pool is 50", conflicts_with=("a000000000",))
    own.add("c", "alpha pool is 90")
    own.add("d", "alpha pool may be 70", conflicts_with=("c000000000", "d000000000"))
    shared.add("c", "alpha pool is 90, it seems", scope="global")
    stores = [own.store(), shared.store()]
    answer = search(SearchRequest("alpha pool"), stores, config=Config(), now=NOW, viewer=Viewer())
    assert {(hit.store, hit.id[0]): hit.conflicts_with for hit in answer.hits} == {
        ("project", "a"): ("b000000000", "elsewhere0"),
        ("project", "b"): ("a000000000",),
        ("project", "c"): ("d000000000",),
        ("project", "d"): ("c000000000", "d000000000"),
        ("shared", "c"): (),
    }


def test_default_engines_have_no_vectors_of_their_own() -> None:
    """The dense side comes from the index."""
    assert default_engines().vector is None
