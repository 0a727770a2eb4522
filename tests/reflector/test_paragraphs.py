"""Paragraphs: several lessons of one text are told apart, one lesson in several paragraphs stays whole."""

from __future__ import annotations

import pytest

from memx.model import Commit, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector import Reflector

SHA = "4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff"
APART = {
    "en": """Mend what the load test showed

Worker threads starved because the executor is bounded at 8 and each upload waits for a second one.
Give uploads an executor of their own.

The health page timed out since it counts all rows of `events`. Read the estimate from pg_class instead.
""",
    "zh": """压测问题修复

线程池上限是 8，上传任务又要等待另一个线程，所以互相饿死。上传必须使用单独的 Executor。

健康检查超时，因为它每次都统计 events 全表。改为读取 pg_class 里的估算值。
""",
    "ja": """負荷試験の指摘を修正

スレッドプールの上限が 8 のため、アップロード同士が待ち合って止まっていた。アップロード専用の Executor を必ず使う。

ヘルスチェックは events の全件を数えるのでタイムアウトする。pg_class の概算値を読むように変更。
""",
    "es": """Corrige lo que mostró la prueba de carga

Los hilos se bloqueaban porque el Executor está limitado a 8 y cada subida espera a otra. Las subidas deben
usar un Executor propio.

El chequeo de salud fallaba por timeout ya que contaba toda la tabla `events`. Hay que leer la estimación de
pg_class.
""",
}
STORY = """Keep the uploads going under load

The upload page stopped answering when more than eight people used it.

Each upload takes a thread of the executor and waits for a second one, and the executor is bounded at 8, so
all of them wait for ever.

Give the second step an executor of its own.
"""


@pytest.mark.parametrize("lang", APART)
def test_paragraphs_with_lessons_of_their_own_give_a_candidate_each(reflector: Reflector, lang: str) -> None:
    """Each paragraph that has its own subject, cause and remedy is proposed apart."""
    found = [candidate.text for candidate in reflector.commit(Commit(SHA, APART[lang])).candidates]
    assert len(found) == 2
    assert "Executor" in found[0] or "executor" in found[0]
    assert "pg_class" in found[1]
    assert "pg_class" not in found[0]


def test_paragraph_keeps_its_remedy(reflector: Reflector) -> None:
    """A short paragraph is kept whole, what to do included."""
    found = reflector.commit(Commit(SHA, APART["en"])).candidates
    assert "Give uploads an executor of their own." in found[0].text


def test_story_in_three_paragraphs_stays_one_lesson(reflector: Reflector) -> None:
    """What was seen, its cause and its remedy are one candidate though they stand in paragraphs."""
    (found,) = reflector.commit(Commit(SHA, STORY)).candidates
    assert "executor" in found.text


def test_second_paragraph_on_the_same_identifier_stays_with_the_first(reflector: Reflector) -> None:
    """Two paragraphs that name one identifier are one lesson."""
    message = (
        APART["en"]
        .replace("`events`", "the executor's `upload_queue`")
        .replace("each upload", "each `upload_queue` entry")
    )
    assert len(reflector.commit(Commit(SHA, message)).candidates) == 1


def test_paragraph_that_points_back_stays_with_the_one_before(reflector: Reflector) -> None:
    """A paragraph that begins by `this` or `therefore` goes on with the one before."""
    message = APART["en"].replace(
        "The health page timed out since it", "This timed out since the health page"
    )
    assert len(reflector.commit(Commit(SHA, message)).candidates) == 1


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_turn_with_two_lessons_gives_both(reflector: Reflector, role: str) -> None:
    """What holds for a commit's paragraphs holds for those of a turn."""
    turn = Event(role, "text", APART["en"].partition("\n\n")[2], key="k1", time=10.0)
    found = reflector.session([turn], source="session codex s-1").candidates
    assert len(found) == 2
    assert len({candidate.id for candidate in found}) == 2


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_turn_with_one_story_is_not_torn_apart(reflector: Reflector, role: str) -> None:
    """A story told in the paragraphs of a turn gives one lesson at most."""
    turn = Event(role, "text", STORY.partition("\n\n")[2], key="k1", time=10.0)
    assert len(reflector.session([turn], source="session codex s-1").candidates) <= 1


def test_lessons_of_one_text_keep_their_source(reflector: Reflector) -> None:
    """Every candidate of a commit names it, so a removed commit takes all of them along."""
    found = reflector.commit(Commit(SHA, APART["en"], authored=5.0)).candidates
    assert {(candidate.source, candidate.created) for candidate in found} == {(f"commit {SHA}", 5.0)}


ITEMS = {
    "en": """Two things learnt under load

- Worker threads starved because the executor is bounded at 8 and each upload waits for a second one. Give
  uploads an executor of their own.
- The health page timed out since it counts all rows of `events`. Read the estimate from pg_class instead.
""",
    "zh": """压测问题修复

1、线程池上限是 8，上传任务又要等待另一个线程，所以互相饿死。上传必须使用单独的 Executor。
2、健康检查超时，因为它每次都统计 events 全表。改为读取 pg_class 里的估算值。
""",
    "ja": """負荷試験の指摘を修正

・スレッドプールの上限が 8 のため、アップロード同士が待ち合って止まっていた。アップロード専用の Executor を必ず使う。
・ヘルスチェックは events の全件を数えるのでタイムアウトする。pg_class の概算値を読むように変更。
""",
    "es": """Corrige lo que mostró la prueba de carga

* Los hilos se bloqueaban porque el Executor está limitado a 8 y cada subida espera a otra. Las subidas deben
  usar un Executor propio.
* El chequeo de salud fallaba por timeout ya que contaba toda la tabla `events`. Hay que leer la estimación de
  pg_class.
""",
}


@pytest.mark.parametrize("lang", ITEMS)
def test_items_with_lessons_of_their_own_give_a_candidate_each(reflector: Reflector, lang: str) -> None:
    """What holds for paragraphs holds for the items of a list, whatever marks them."""
    found = [candidate.text for candidate in reflector.commit(Commit(SHA, ITEMS[lang])).candidates]
    assert len(found) == 2
    assert "xecutor" in found[0]
    assert "pg_class" not in found[0]
    assert "pg_class" in found[1]


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_introduction_of_a_list_belongs_to_no_item(reflector: Reflector, role: str) -> None:
    """The line before a list only says that something follows."""
    items = ITEMS["en"].partition("\n\n")[2]
    turn = Event(role, "text", f"There are two things to know.\n\n{items}", key="k1", time=10.0)
    found = reflector.session([turn], source="session codex s-1").candidates
    assert len(found) == 2
    assert not any("two things" in candidate.text for candidate in found)


@pytest.mark.parametrize(
    "message",
    [
        STORY.rpartition("Give")[0]
        + "- Give the second step an executor of its own.\n- Raise the bound to 16.\n- Restart the workers.\n",
        """Fix 502s of the upload API

- Symptom: one request in a thousand got a 502 from the balancer.
- Cause: node closes idle connections after 5 s, the balancer only after 60 s, so it reuses a dead one.
- Fix: set keepAliveTimeout to 65 s.
""",
        ITEMS["en"]
        .replace("`events`", "the executor's `upload_queue`")
        .replace("each upload", "`upload_queue`"),
    ],
    ids=["steps", "symptom, cause and fix", "one identifier"],
)
def test_list_of_one_lesson_stays_whole(reflector: Reflector, message: str) -> None:
    """Steps of one remedy, a story told in items and items on one thing are one lesson at most."""
    assert len(reflector.commit(Commit(SHA, message)).candidates) <= 1


def test_one_lesson_among_changes_does_not_cut_a_list(reflector: Reflector) -> None:
    """Where most items only say what was changed, the list is one text."""
    changes = "- Rename UserPrefs to Preferences everywhere\n- Move the avatar to its own tab\n- Remove the old modal\n"
    assert len(reflector.commit(Commit(SHA, ITEMS["en"] + changes)).candidates) <= 1


def test_items_that_name_trouble_only_in_a_change_are_no_lessons(reflector: Reflector) -> None:
    """A list of changes stays one text though its items speak of what is invalid or fails."""
    message = """Mejorado el modelo LogMessage: validación y fix de context()

- Añadida constante VALID_LEVELS y validación en test() para rechazar niveles no válidos.
- context() ahora devuelve [] en lugar de null cuando el JSON es inválido.
- Añadida traducción invalid-log-level en en_EN y es_ES.
"""
    assert len(reflector.commit(Commit(SHA, message)).candidates) <= 1
