"""The five scenarios in four languages, as commit message and as session turn, and what voids them."""

from __future__ import annotations

import pytest

from memx.model import Commit, Event

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

LESSONS = (
    (
        "error_fix",
        "TypeError: Argument of type 'string' is not assignable → turns out you need a type assertion",
    ),
    ("error_fix", "TypeError: cannot read properties of undefined, turns out we needed a type assertion"),
    ("error_fix", "类型错误 TypeError: 不能将类型 string 分配给 number → 原来需要加类型断言"),
    ("error_fix", "TypeError：类型不匹配，结果发现需要类型断言"),
    ("error_fix", "TypeError: 型が合わない → 実は型アサーションが必要だった"),
    ("error_fix", "TypeError が発生 → 型アサーションが必要だと判明した"),
    ("error_fix", "TypeError: no se puede asignar → resulta que hace falta una aserción de tipo"),
    ("error_fix", "TypeError: tipo incompatible; resultó que había que añadir una aserción de tipos"),
    ("retry_success", "Tried A and B, neither worked, finally solved it with C"),
    (
        "retry_success",
        "Tried clearing the cache and reinstalling node, neither worked, finally solved it with npm ci",
    ),
    ("retry_success", "试了 A 和 B 都不行，最后用 C 解决了"),
    ("retry_success", "尝试了清缓存和重装，都没用，最终通过升级 node 解决"),
    ("retry_success", "AとBを試したがどちらもだめで、最終的にCで解決した"),
    ("retry_success", "キャッシュ削除と再インストールを試したがうまくいかず、結局 npm ci で解決した"),
    ("retry_success", "Probé A y B, ninguno funcionó, al final lo resolví con C"),
    (
        "retry_success",
        "Intenté limpiar la caché y reinstalar, nada funcionó; finalmente se solucionó con npm ci",
    ),
    ("config_change", "Changed MAX_POOL_SIZE from 10 to 50"),
    ("config_change", "Raise the gunicorn timeout from 30 to 120 seconds"),
    ("config_change", "把 MAX_POOL_SIZE 从 10 改为 50"),
    ("config_change", "将 MAX_POOL_SIZE 从 10 调整到 50"),
    ("config_change", "MAX_POOL_SIZE を 10 から 50 に変更した"),
    ("config_change", "MAX_POOL_SIZEを10から50に変更"),
    ("config_change", "Se cambió MAX_POOL_SIZE de 10 a 50"),
    ("config_change", "Cambiado MAX_POOL_SIZE de 10 a 50"),
    ("new_tool", "First time using pnpm, much faster than npm"),
    ("new_tool", "Used pnpm for the first time, it is much faster than npm"),
    ("new_tool", "第一次使用 pnpm，比 npm 快很多"),
    ("new_tool", "首次用pnpm，比npm快多了"),
    ("new_tool", "初めて pnpm を使ったが、npm よりずっと速い"),
    ("new_tool", "pnpmを初めて使った。npmよりかなり速い"),
    ("new_tool", "Primera vez que uso pnpm, mucho más rápido que npm"),
    ("new_tool", "Primera vez usando pnpm, es mucho más rápido que npm"),
    ("repetitive_op", "Have to manually clear the cache on every deploy"),
    ("repetitive_op", "The cache must be cleared by hand after each deploy"),
    ("repetitive_op", "每次部署都要手动清理缓存"),
    ("repetitive_op", "每次部署都需要手动清缓存"),
    ("repetitive_op", "デプロイのたびに手動でキャッシュをクリアする必要がある"),
    ("repetitive_op", "毎回デプロイ時に手動でキャッシュを削除しなければならない"),
    ("repetitive_op", "Hay que limpiar la caché a mano en cada despliegue"),
    ("repetitive_op", "Tenemos que borrar manualmente la caché en cada despliegue"),
)

VOID = (
    "Did not change MAX_POOL_SIZE from 10 to 50",
    "Should we change MAX_POOL_SIZE from 10 to 50?",
    "Plan: change MAX_POOL_SIZE from 10 to 50 next week",
    'The README says "Changed MAX_POOL_SIZE from 10 to 50"',
    "We will change MAX_POOL_SIZE from 10 to 50",
    "> Changed MAX_POOL_SIZE from 10 to 50",
    '"Changed MAX_POOL_SIZE from 10 to 50"',
    "This is not the first time using pnpm, and it is not faster than npm",
    "should we try pnpm?",
    "Should we try pnpm for the first time? It may be faster than npm",
    "Let's try pnpm, first time using it",
    "We plan to use pnpm for the first time",
    'The blog says "First time using pnpm, much faster than npm"',
    "We do not have to manually clear the cache on every deploy",
    "No need to manually clear the cache on every deploy",
    "Do we have to manually clear the cache on every deploy?",
    "We no longer have to manually clear the cache on every deploy",
    "Next sprint we will have to manually clear the cache on every deploy",
    "We have not tried A and B, so C is still open",
    "Let's try A and B, and if neither works, finally solve it with C",
    "Have you tried A and B? Neither worked? Did you finally solve it with C?",
    "Tomorrow I will try A and B; if neither works, I'll finally solve it with C",
    "There was no TypeError and it turns out you do not need a type assertion",
    "TypeError: does it turn out you need a type assertion?",
    "No TypeError occurred, no type assertion needed",
    '"TypeError: x → turns out you need a type assertion"',
    "没有把 MAX_POOL_SIZE 从 10 改为 50",
    "要不要把 MAX_POOL_SIZE 从 10 改为 50？",
    "打算把 MAX_POOL_SIZE 从 10 改为 50",
    "文档里写着“把 MAX_POOL_SIZE 从 10 改为 50”",
    "这不是第一次使用 pnpm",
    "要不要试试 pnpm？",
    "计划第一次使用 pnpm",
    "每次部署不需要手动清理缓存",
    "每次部署都要手动清理缓存吗？",
    "没有试过 A 和 B",
    "我们打算试 A 和 B，都不行的话最后用 C 解决",
    "没有出现 TypeError，不需要类型断言",
    "TypeError：是不是需要类型断言？",
    "MAX_POOL_SIZE を 10 から 50 に変更していない",
    "MAX_POOL_SIZE を 10 から 50 に変更すべきですか？",
    "MAX_POOL_SIZE を 10 から 50 に変更する予定",
    "「MAX_POOL_SIZE を 10 から 50 に変更した」と書いてある",
    "pnpm を使うのは初めてではない",
    "pnpm を試してみませんか？",
    "来週初めて pnpm を使う予定です",
    "デプロイのたびに手動でキャッシュをクリアする必要はない",
    "デプロイのたびに手動でキャッシュをクリアする必要がありますか？",
    "AとBはまだ試していない",
    "AとBを試して、だめなら最終的にCで解決するつもり",
    "TypeError は出ていないので型アサーションは不要",
    "TypeError: 型アサーションが必要でしょうか？",
    "No se cambió MAX_POOL_SIZE de 10 a 50",
    "¿Deberíamos cambiar MAX_POOL_SIZE de 10 a 50?",
    "Vamos a cambiar MAX_POOL_SIZE de 10 a 50",
    "El README dice «Se cambió MAX_POOL_SIZE de 10 a 50»",
    "No es la primera vez que uso pnpm",
    "¿Probamos pnpm?",
    "Mañana usaremos pnpm por primera vez",
    "No hay que limpiar la caché a mano en cada despliegue",
    "¿Hay que limpiar la caché a mano en cada despliegue?",
    "No probé A ni B",
    "Voy a probar A y B; si ninguno funciona, al final lo resolveré con C",
    "No hubo ningún TypeError, no hace falta una aserción de tipo",
    "TypeError: ¿hace falta una aserción de tipo?",
)
"""The same texts negated, quoted, planned or asked."""


def reflect(reflector: Reflector, text: str, source: str) -> Reflection:
    """Reflect on a text as a commit, as a person's turn or as an agent's turn."""
    if source == "commit":
        return reflector.commit(Commit("a" * 40, text, authored=1.0))
    return reflector.session([Event(source, "text", text, key="k1")], source="session claude_code s1")


@pytest.mark.parametrize("source", ["commit", "user", "assistant"])
@pytest.mark.parametrize(("rule", "text"), LESSONS)
def test_scenario_gives_named_rule_with_its_confidence(
    reflector: Reflector, rule: str, text: str, source: str
) -> None:
    """Each scenario is proposed by the rule that the design names, with that rule's confidence."""
    found = {c.rule: c.confidence for c in reflect(reflector, text, source).candidates}
    assert found.get(rule) == CONFIDENCE[rule]


@pytest.mark.parametrize("source", ["commit", "user", "assistant"])
@pytest.mark.parametrize("text", VOID)
def test_negated_quoted_planned_or_asked_gives_nothing(reflector: Reflector, text: str, source: str) -> None:
    """What did not happen, was only quoted, meant or asked is no lesson."""
    assert reflect(reflector, text, source).candidates == ()
