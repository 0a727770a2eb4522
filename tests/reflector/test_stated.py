"""Lessons of one sentence, in other words than the rules', as commit and as turn; and what only looks like one."""

from __future__ import annotations

import pytest

from memx.model import Commit, Event
from memx.reflector.language import detect_language
from memx.reflector.segment import segment, segment_prose
from memx.reflector.stated import may_state, share_of, stated_support
from memx.reflector.vocabulary import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector import Reflection, Reflector

CONFIDENCE = {
    "error_fix": 0.8,
    "retry_success": 0.7,
    "config_change": 0.6,
    "new_tool": 0.65,
    "repetitive_op": 0.5,
}
PARAPHRASES = (
    ("error_fix", "TypeError in the mapper; the reason was a missing cast to number."),
    ("error_fix", "The build crashed with ENOMEM because four workers ran at once, so limit them to two."),
    ("error_fix", "接口抛 TypeError，根因是少了一次类型转换。"),
    ("error_fix", "TypeError の原因は、数値への変換が抜けていたことだった。"),
    ("error_fix", "El TypeError del mapeador se debía a que faltaba convertir a número."),
    (
        "retry_success",
        "Rebooting did not help and a new cable did not help; in the end a firmware update solved it.",
    ),
    ("retry_success", "We tried two mirrors without success; what finally worked was a local cache."),
    ("retry_success", "换了两个镜像都不行，最后自建缓存才解决。"),
    ("retry_success", "ミラーを二つ試したがどちらもだめで、結局ローカルのキャッシュで解決した。"),
    ("retry_success", "Probé dos réplicas sin éxito y al final funcionó con una caché local."),
    ("config_change", "Lowered keepalive_timeout from 75 to 20, because idle sockets filled the table."),
    ("config_change", "batch_size: 500 -> 2000"),
    ("config_change", "把 batch_size 从 500 调到 2000，否则导入太慢。"),
    ("config_change", "batch_size を 500 から 2000 に増やした。"),
    ("config_change", "Subimos batch_size de 500 a 2000 porque la carga tardaba demasiado."),
    ("new_tool", "Tried biome for the first time; it formats the whole repository in a second."),
    ("new_tool", "We replaced eslint with biome, it formats in a second."),
    ("new_tool", "首次使用 biome，格式化整个仓库只要一秒。"),
    ("new_tool", "今回初めて biome を使ったが、全体の整形が一秒で終わる。"),
    ("new_tool", "Primera vez que usamos biome: formatea todo el repositorio en un segundo."),
    ("repetitive_op", "Before every demo the sample data has to be loaded by hand."),
    ("repetitive_op", "The token must be renewed manually each week."),
    ("repetitive_op", "每次演示前都要手动导入样例数据。"),
    ("repetitive_op", "デモのたびに手動でサンプルデータを読み込む必要がある。"),
    ("repetitive_op", "Antes de cada demo hay que cargar los datos de ejemplo a mano."),
)
STATED = (
    "Turns out the queue was too small because each worker holds one slot; set QUEUE_SIZE to 50.",
    "Never call close() while holding the lock: it deadlocks with the reader.",
    "We use row locks because the lock server lost its locks at failover.",
    "Without `--no-cache` the image silently keeps the old packages.",
    "Read the clock inside the loop, otherwise all rows get the same time.",
    "持有锁时不要调用 close()，否则会与读线程死锁。",
    "导入变慢，原因是每行都提交一次事务。",
    "我们用行锁，因为锁服务在切换时会丢锁。",
    "ロックを持ったまま close() を呼んではいけない。読み取り側とデッドロックする。",
    "インポートが遅い原因は、行ごとにコミットしていることだった。",
    "ロックサーバーは切り替え時にロックを失うので、行ロックを使う。",
    "Nunca llames a close() con el cerrojo tomado: se bloquea con el lector.",
    "La importación era lenta porque se hacía un commit por fila.",
    "Usamos bloqueos de fila porque el servidor los perdía al conmutar.",
)
VOID = (
    "Calling close() while holding the lock is not a problem, it does not deadlock.",
    'The wiki says "never call close() while holding the lock, because it deadlocks".',
    "Next week we want to use row locks because the lock server may lose them.",
    "Should we use row locks because the lock server loses them at failover?",
    "Please find out why the import is slow.",
    "Lowering keepalive_timeout from 75 to 20 was not needed.",
    "Nobody has to load the sample data by hand before every demo.",
    "We want to replace eslint with biome next month.",
    "Update dependencies",
    "fix typo in the guide because it was wrong",
    "Bump biome from 1.8.2 to 1.9.0",
    "Merge branch 'fix/never-call-close' into main",
    "持有锁时调用 close() 没有问题，不会死锁。",
    "下周打算改用行锁，因为锁服务可能会丢锁。",
    "为什么导入这么慢？",
    "ロックを持ったまま close() を呼んでも問題ない。",
    "来週、行ロックに移行する予定です。",
    "なぜインポートは遅いのですか？",
    "Llamar a close() con el cerrojo tomado no es problema, no se bloquea.",
    "La semana que viene queremos usar bloqueos de fila porque el servidor los pierde.",
    "¿Por qué es lenta la importación?",
)
SUBJECTS = {"en": "Update worker", "zh": "更新 worker", "ja": "worker を更新", "es": "Actualiza worker"}
SOURCES = ("subject", "body", "user", "assistant")


def reflect(reflector: Reflector, text: str, source: str) -> Reflection:
    """Reflect on a sentence as a commit's subject or body, or as a person's or an agent's turn."""
    if source in ("user", "assistant"):
        return reflector.session([Event(source, "text", text, key="k1")], source="session claude_code s1")
    message = text if source == "subject" else f"{SUBJECTS[detect_language(text)]}\n\n{text}"
    return reflector.commit(Commit("a" * 40, message, authored=1.0))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("rule", "text"), PARAPHRASES)
def test_paraphrase_of_a_scenario_gives_the_named_rule_with_its_confidence(
    reflector: Reflector, rule: str, text: str, source: str
) -> None:
    """The scenarios hold in other words too, whatever the form."""
    found = {c.rule: c.confidence for c in reflect(reflector, text, source).candidates}
    assert found.get(rule) == CONFIDENCE[rule]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("text", STATED)
def test_lesson_of_one_sentence_is_proposed(reflector: Reflector, text: str, source: str) -> None:
    """What joins a reason to trouble or a directive is a lesson whatever its length."""
    assert any(c.score >= 30 for c in reflect(reflector, text, source).candidates)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("text", VOID)
def test_sentence_that_only_looks_like_a_lesson_gives_nothing(
    reflector: Reflector, text: str, source: str
) -> None:
    """Denied, quoted, planned, asked, ordered or routine: none of them is a lesson."""
    assert reflect(reflector, text, source).candidates == ()


@pytest.mark.parametrize("source", ["subject", "user", "assistant"])
@pytest.mark.parametrize(
    "text",
    [
        "Should we change MAX_POOL_SIZE from 10 to 50?",
        "We did not change MAX_POOL_SIZE from 10 to 50",
        'The README says "Changed MAX_POOL_SIZE from 10 to 50"',
        "要不要把 MAX_POOL_SIZE 从 10 改为 50？",
        "MAX_POOL_SIZE を 10 から 50 に変更する予定",
        "No se cambió MAX_POOL_SIZE de 10 a 50",
    ],
)
def test_voided_words_of_a_rule_are_named_among_the_rejected(
    reflector: Reflector, text: str, source: str
) -> None:
    """Whoever asks why a sentence gave nothing is told which rule knew its words."""
    rejected = reflect(reflector, text, source).rejected
    assert any(r.rule == "config_change" and r.reason for r in rejected)


def test_lesson_that_is_a_small_part_of_a_text_has_no_support() -> None:
    """In a long text about other things one reasoned sentence is not the lesson of the whole."""
    lesson = "Never call close() here: it deadlocks."
    sentences = segment(f"Rework the importer\n\n{lesson} " + "The page has a table now. " * 6).sentences
    assert share_of(sentences, 1, 1) < 0.5
    assert stated_support(segment_prose(lesson).sentences, "en") > 0


@pytest.mark.parametrize("text", [*STATED, *(text for rule, text in PARAPHRASES if rule == "error_fix")])
def test_quick_look_never_misses_what_is_stated(text: str) -> None:
    """What is read for cheaply covers what is found at cost."""
    words = vocabulary(detect_language(text))
    supported = stated_support(segment_prose(text).sentences, words.language) > 0
    assert may_state(text, words) or not supported
