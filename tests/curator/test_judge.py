"""The Curator's decisions for pairs of lessons."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.config import CuratorConfig
from memx.curator.judge import judge, judge_texts, tier
from memx.model import Bullet

CONFIG = CuratorConfig()
POOL = {
    "en": ("Setting the Redis connection pool to 10 is enough", "At least 50 for stability"),
    "zh": ("Redis 连接池设置为 10 就够了", "为了稳定至少需要 50"),
    "ja": ("Redisの接続プールは10で十分", "安定のためには少なくとも50必要"),
    "es": ("Con 10 conexiones en el pool de Redis es suficiente", "Al menos 50 para que sea estable"),
}
WORDS = st.sampled_from(
    [
        "redis",
        "pool",
        "10",
        "50 ms",
        "never",
        "always",
        "use",
        "`make test`",
        "on_call",
        "staging",
        "prod",
        "部署",
        "必须",
        "不要",
        "接続",
        "しない",
        "30秒",
        "siempre",
        "nunca",
        "despliegue",
        "before",
        "after",
        "--force",
        "v1.2.3",
        "not",
        ",",
        ".",
        "enough",
        "at least",
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


@pytest.mark.parametrize("cosine", [-0.2, 0.0, 0.5, 0.99])
@pytest.mark.parametrize("lang", POOL)
def test_pool_size_enough_against_at_least_is_contradiction(lang: str, cosine: float) -> None:
    """Ten is enough and at least fifty contradict each other whatever the similarity, in each language."""
    verdict = judge_texts(*POOL[lang], cosine, CONFIG)
    assert (verdict.action, verdict.contradiction) == ("conflict", True)
    assert "confirm which practice is right and delete the outdated one" in verdict.reason


@pytest.mark.parametrize("lang", POOL)
def test_pool_size_with_full_subject_is_contradiction(lang: str) -> None:
    """Naming the subject on both sides changes nothing."""
    subject = {
        "en": "Redis connection pool: ",
        "zh": "Redis 连接池",
        "ja": "Redisの接続プールは",
        "es": "Pool de Redis: ",
    }
    first, second = POOL[lang]
    assert judge_texts(first, subject[lang] + second, 0.7, CONFIG).contradiction


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("redis", "Set MAX_POOL_SIZE to 50 for redis."),
        ("pytest", "Never run pytest in parallel"),
        ("deploys", "Deploys are not allowed on Fridays"),
    ],
)
def test_single_word_contradicts_nothing(word: str, text: str) -> None:
    """It names a subject and says nothing of it; what says something does, however short."""
    for pair in ((word, text), (text, word)):
        verdict = judge_texts(*pair, 0.6, CONFIG)
        assert (verdict.action, verdict.contradiction) == ("independent", False)
    assert judge_texts("Use pytest", "Avoid pytest", 0.8, CONFIG).contradiction
    assert judge_texts("MAX_POOL_SIZE=10", "MAX_POOL_SIZE=50", 0.9, CONFIG).contradiction


@pytest.mark.parametrize(
    ("similarity", "action"),
    [(1.0, "merge"), (0.8, "merge"), (0.7999, "conflict"), (0.5, "conflict"), (0.4999, "independent")],
)
def test_tier_limits_are_inclusive(similarity: float, action: str) -> None:
    """0.8 merges, 0.5 flags and 0.4999 writes (issue 7)."""
    assert tier(similarity, CONFIG) == action


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The deadline for the audit is 15 Oct.", "The deadline for the audit is 16 Oct."),
        ("Retry the upload 3 times.", "Retry the upload 5 times."),
        ("Use yarn for the web client.", "Never use yarn for the web client."),
        ("The wheel is built for Python 3.10.", "The wheel is built for Python 3.11."),
        ("Deploy to staging with `make ship`.", "Deploy to production with `make ship`."),
        ("Pass `--depth 1` when cloning.", "Pass `--bare` when cloning."),
        ("Prefer tabs over spaces in Makefiles.", "Prefer spaces over tabs in Makefiles."),
        ("缓存要在写库之前删除。", "缓存要在写库之后删除。"),
        ("リトライは3回まで。", "リトライは5回まで。"),
        ("Activa la caché en el proxy.", "Desactiva la caché en el proxy."),
    ],
)
@pytest.mark.parametrize("cosine", [0.8, 1.0])
def test_one_fact_apart_never_merges(a: str, b: str, cosine: float) -> None:
    """Texts one fact apart are never merged, however near their vectors (faults.md row 50)."""
    assert judge_texts(a, b, cosine, CONFIG).action != "merge"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Use pnpm for installs.", "use pnpm for installs"),
        ("Set the timeout to 5 s.", "Set the timeout to 5000 ms."),
        ("部署前先跑一遍测试。", "部署前先跑一遍测试"),
    ],
)
def test_same_words_merge_at_any_cosine(a: str, b: str) -> None:
    """Case, punctuation and the unit of a number make no other lesson."""
    assert judge_texts(a, b, 0.3, CONFIG).action == "merge"


def test_three_unrelated_chinese_rules_stay_three() -> None:
    """Three rules about different things do not attract one another."""
    rules = ("提交信息必须写清楚原因。", "数据库迁移要先在从库验证。", "前端图片统一使用 webp 格式。")
    verdicts = [judge_texts(a, b, 0.45, CONFIG) for a in rules for b in rules if a < b]
    assert {verdict.action for verdict in verdicts} == {"independent"}


def test_bullets_are_judged_by_their_text() -> None:
    """`judge` takes bullets; equal texts with different ids merge."""
    verdict = judge(Bullet("a000000001", "Same."), Bullet("a000000002", "Same."), 0.1, CONFIG)
    assert (verdict.action, verdict.similarity) == ("merge", 1.0)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.floats(-1, 1), st.floats(-1, 1))
def test_similarity_never_falls_when_cosine_rises(a: str, b: str, one: float, two: float) -> None:
    """A higher cosine never lowers the calibrated similarity."""
    low, high = sorted((one, two))
    assert judge_texts(a, b, low, CONFIG).similarity <= judge_texts(a, b, high, CONFIG).similarity + 1e-12


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.floats(-1, 1))
def test_verdict_is_symmetric(a: str, b: str, cosine: float) -> None:
    """The order of the two texts changes neither the similarity nor the action."""
    left, right = judge_texts(a, b, cosine, CONFIG), judge_texts(b, a, cosine, CONFIG)
    assert (left.similarity, left.action, left.contradiction) == (
        right.similarity,
        right.action,
        right.contradiction,
    )


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_judged(a: str, b: str) -> None:
    """No text makes the Curator fail, and a similarity is a probability."""
    assert 0 <= judge_texts(a, b, 0.5, CONFIG).similarity <= 1


def test_list_of_figures_is_read_without_a_value() -> None:
    """A row of figures with commas is no number, and no reason to fail."""
    assert judge_texts("Open ports 1,2,3.", "Open ports 1,2,3,4 and 1.2,3.", 0.9, CONFIG).action
