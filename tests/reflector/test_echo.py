"""What memx printed is never learnt again, and a trailer that only fills its place is no lesson."""

from __future__ import annotations

import pytest

from memx.config import ReflectorConfig
from memx.redact import PrivacySanitizer
from memx.reflector import Reflector
from memx.reflector.echo import strip_echo
from tests.reflector.test_session import reflect, said

LESSONS = {
    "en": "Fix Redis timeouts under load. The root cause is that the pool ceiling was 10, because each worker "
    "holds two connections: set MAX_POOL_SIZE to 50.",
    "zh": "修复 Redis 超时。根因是连接池上限为 10，因为每个进程占用两个连接，必须把 MAX_POOL_SIZE 设为 50。",
    "ja": "Redis のタイムアウト。原因はプールの上限が 10 だったためで、MAX_POOL_SIZE を 50 に設定する必要がある。",
    "es": "Arregla los tiempos de espera de Redis. La causa es que el límite era 10, porque cada proceso usa dos "
    "conexiones: hay que poner MAX_POOL_SIZE a 50.",
}
FORMS = {
    "hook": "memx: learnt: {lesson} (memx review)",
    "hook in a pipeline": "2026-11-30T10:00:00Z | memx: learnt (and 2 more): {lesson} (memx review)",
    "remote": "remote: memx: learnt: {lesson} (memx review)",
    "quoted": "> memx: learnt: {lesson} (memx review)",
    "search": "dejr5b4cv1  0.871  debugging/pitfall  bullets/debugging/fix-dejr5b4cv1.md\n    {lesson}\n    final  0.9",
    "list": "dejr5b4cv1  debugging     93  {lesson}",
    "id of letters": "management  debugging     93  {lesson}",
    "context": "1. [debugging/pitfall, dejr5b4cv1, project:bullets/debugging/x.md (hand)]\n\n    {lesson}",
    "exported facts": "## dejr5b4cv1\n\ndejr5b4cv1: debugging, pitfall, project, score 93\n- file: "
    "project:bullets/debugging/x-dejr5b4cv1.md\n\n> {lesson}",
    "summary": "debugging  (5)\n   94  {lesson}\n       … and 2 more",
    "command": "$ memx search redis\n  1. 0.292  {lesson}",
    "xml": '<memx-notes query="x">\n<note id="dejr5b4cv1">\n<text>{lesson}</text>\n</note>\n</memx-notes>',
    "json": '{{"version":1,"hits":[{{"id":"dejr5b4cv1","section":"debugging","text":"{lesson}"}}]}}',
    "indented json": '{{\n  "bullets": [\n    {{\n      "id": "dejr5b4cv1",\n      "text": "{lesson}"\n    }}\n  ]\n}}',
    "bullet": "---\nid: dejr5b4cv1\nsection: debugging\ntype: pitfall\n---\n{lesson}",
    "annotation": "::notice file=bullets/x.md,title=memx: speaks about::{lesson}",
}
MESSAGES = (
    "memx: no bullet is about that",
    "memx: merge driver registered",
    "memx: hooks written in /srv/project/.git/hooks",
    "memx: conflict marker: bullets/debugging/a.md:3",
    "memx: cannot read the store, because the folder is missing: .memx\nhint: memx init, otherwise nothing is found",
)


@pytest.fixture
def lenient() -> Reflector:
    """Return a reflector that proposes whatever it sees."""
    return Reflector(ReflectorConfig(min_score=0), PrivacySanitizer())


@pytest.mark.parametrize("language", LESSONS)
@pytest.mark.parametrize("form", FORMS)
def test_output_of_memx_is_not_learnt_from_a_message(lenient: Reflector, form: str, language: str) -> None:
    """Whatever the format and the language, a line that memx printed teaches nothing."""
    from memx.model import Commit

    pasted = FORMS[form].format(lesson=LESSONS[language])
    found = lenient.commit(Commit("1" * 40, f"Update notes\n\n{pasted}\n"))
    assert not [c for c in found.candidates if "MAX_POOL_SIZE" in c.text]
    assert any(r.rule == "echo" for r in found.rejected)


@pytest.mark.parametrize("language", LESSONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_output_of_memx_is_not_learnt_from_a_session(
    lenient: Reflector, form: str, language: str, role: str
) -> None:
    """The same lines pasted by a person or repeated by the agent."""
    pasted = FORMS[form].format(lesson=LESSONS[language])
    found = reflect(lenient, said("user", "go on"), said(role, pasted))
    assert not [c for c in found.candidates if "MAX_POOL_SIZE" in c.text]


@pytest.mark.parametrize("message", MESSAGES)
def test_message_of_memx_is_no_trailer(reflector: Reflector, message: str) -> None:
    """`memx:` in lower case is memx speaking, also with its hint in the next line."""
    for text in (f"Set the project up\n\n{message}\n", message):
        assert reflector.text(text).candidates == ()
    assert reflect(reflector, said("user", message)).candidates == ()


def test_message_that_an_editor_wrapped_is_dropped_whole() -> None:
    """A long line goes on in the next one until its sentence ends."""
    line = (
        "memx: learnt: Fix Redis timeouts under load. The pool ceiling was 10, which is not\n"
        "enough: set it to 50 (memx review)"
    )
    assert strip_echo(f"Title\n\n{line}\nThe rest stays.") == "Title\n\nThe rest stays."


@pytest.mark.parametrize(
    "text",
    [
        "Memx: never rebase shared branches, because others build upon them.",
        "We use memx; it keeps lessons.",
        "ab12cd34ef Fix the parser, because it was slow",
        "management  because of policy",
        "The identifier of the node is id: unknown",
        "Use debugging/pitfall as the classes of this lesson.",
        "| name | memx: |",
        "Run memx search before you ask, because it knows.",
        "Things  (5)",
    ],
)
def test_words_of_a_person_about_memx_stay(text: str) -> None:
    """A trailer with a capital, prose about memx, and what only looks like an id are a person's."""
    assert strip_echo(text) == text


def test_lesson_beside_output_is_kept(reflector: Reflector) -> None:
    """Only the printed lines go; what the person wrote is read as if they were not there."""
    own = "The cause was the 512 MB limit, because the JVM sizes its heap by the host: set -XX:MaxRAMPercentage=60."
    (found,) = reflector.text(f"Stop the OOM kills\n\n{own}\n\nmemx: hooks written in /x\n").candidates
    assert "MaxRAMPercentage" in found.text
    assert "hooks" not in found.text


@pytest.mark.parametrize("key", ["Gotcha", "Memx"])
@pytest.mark.parametrize(
    "text",
    [
        *(
            "none",
            "None.",
            "n/a",
            "N/A",
            "-",
            "...",
            "nothing",
            "none (yet)",
            "no",
            "see above",
            "TBD",
            "GIL",
        ),
        *("TODO", "TODO: describe this, because it matters", "[TBD]", "we will decide next week"),
        *("to be decided, once the figures are in", "not decided yet", "should we use pnpm?"),
        *("whether to use A or B, to be discussed", "we need to decide whether to keep it"),
        *("无", "暂无。", "没有", "待定", "下周决定", "还没决定用哪个", "要不要用 pnpm？", "以后再说"),
        *(
            "なし",
            "特になし。",
            "未定",
            "来週決めます",
            "まだ決まっていません",
            "検討中です",
            "pnpm を使うべきか？",
        ),
        *("ninguna", "Nada.", "pendiente", "lo decidiremos la semana que viene", "aún no se ha decidido"),
        *("por decidir", "¿usamos pnpm?", "todavía no hemos decidido, falta medir"),
    ],
)
def test_trailer_that_fills_its_place_is_no_lesson(reflector: Reflector, key: str, text: str) -> None:
    """Templates make people write something; that there is nothing, or nothing yet, is no lesson but is named."""
    found = reflector.text(f"Split the module\n\n{key}: {text}\n")
    assert found.candidates == ()
    assert [r for r in found.rejected if r.rule == f"{key.lower()}"] or text in ("-", "...")


@pytest.mark.parametrize(
    "text",
    [
        "none of the workers may share a connection",
        "No: never rebase shared branches, use merge",
        "the optimizer will decide to skip the index when its statistics are stale",
        "we will use Postgres, since two teams know it",
        "the socket is still open after close()",
        "the todo endpoint needs a trailing slash",
        "deferred constraints are checked at commit",
        "use pnpm",
        "无论如何都不要在共享分支上 rebase",
        "未定义的变量会被当成空字符串",
        "未定義の変数は空文字列になる",
        "なしで渡すと既定値になる",
        "nada de rebase en ramas compartidas",
        "la migración queda pendiente de ejecutar si falla el bloqueo",
    ],
)
def test_trailer_that_says_something_is_a_lesson(reflector: Reflector, text: str) -> None:
    """The same words at the beginning of something said do not void it."""
    (found,) = reflector.text(f"Split the module\n\nGotcha: {text}\n").candidates
    assert found.rule == "trailer"
