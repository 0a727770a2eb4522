"""What was only offered, possible, made possible or taken back, or speaks of people: no lesson in any language."""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector import Reflector

OFFERED = (
    "A rough draft of the guide, still under discussion because of the names: comments welcome.",
    "命名规范的初稿，因为还在讨论中，欢迎提意见。",
    "コーディング規約のたたき台。まだ議論中なので、意見があればコメントください",
    "Borrador de la guía, aún en discusión porque faltan nombres.",
    "Feel free to bump POOL_TIMEOUT from 5 to 30 when you get a chance.",
    "You could change MAX_POOL_SIZE from 10 to 50 if you want.",
    "Let me know if you want me to change MAX_POOL_SIZE from 10 to 50, or first try pnpm.",
    "I can switch from npm to pnpm if you prefer.",
    "Happy to raise MAX_POOL_SIZE from 10 to 50.",
    "需要的话我可以把 MAX_POOL_SIZE 从 10 改为 50。",
    "よろしければ MAX_POOL_SIZE を 10 から 50 に変更します。",
    "Si quieres que cambie MAX_POOL_SIZE de 10 a 50, avísame.",
    "Puedo cambiar MAX_POOL_SIZE de 10 a 50 si lo prefieres.",
)
POSSIBLE = (
    "One option would be to raise POOL_TIMEOUT from 5 to 30.",
    "可以考虑把超时从 5 调到 30。",
    "タイムアウトを 5 から 30 に上げるという手もあります。",
    "Una opción sería subir POOL_TIMEOUT de 5 a 30.",
    "It might help to raise MAX_POOL_SIZE from 10 to 50.",
    "If it still fails, change MAX_POOL_SIZE from 10 to 50.",
    "MAX_POOL_SIZE should be raised from 10 to 50.",
    "如果还是失败，可以把 MAX_POOL_SIZE 从 10 改为 50。",
    "也许可以把 MAX_POOL_SIZE 从 10 改为 50。",
    "失敗したら MAX_POOL_SIZE を 10 から 50 に変更するかもしれません。",
    "MAX_POOL_SIZE を 10 から 50 に変更したほうがよい。",
    "Si sigue fallando, se podría cambiar MAX_POOL_SIZE de 10 a 50.",
)
MADE_POSSIBLE = (
    "feat: allow changing the pool size from 10 to 50 in the settings dialog",
    "Make it possible to set the pool size from 10 to 50",
    "feat: 允许在设置里把连接数从 10 调到 50",
    "設定画面で接続数を 10 から 50 に変更できるようにした。",
    "feat: permite cambiar el tamaño del pool de 10 a 50 en los ajustes",
)
REFUTED = (
    "I was sure the leak came from the cache, but disabling it did not help.",
    "At first it looked like a race in the scheduler, yet that turned out to be false.",
    "最初怀疑是缓存导致的内存泄漏，但关掉缓存之后没有任何变化。",
    "Creíamos que la fuga venía de la caché, pero desactivarla no cambió nada.",
    "I thought the root cause was the pool size, but that was wrong, because raising it changed nothing.",
    "We suspected the DNS cache because names resolved late, but it had nothing to do with it.",
    "本以为根因是连接池太小，但把它调大以后没有变化。",
    "原因は接続数だと思っていたが、増やしても変わらなかった。",
    "Pensaba que la causa era el tamaño del pool, pero subirlo no cambió nada.",
)
PEOPLE = (
    "Happy birthday to the team, we always celebrate because it is fun.",
    "Thanks to Bob for the review, he always finds bugs because he is great.",
    "My name is Bob and my phone is 555-1234, always call me Bob because I like it.",
    "I never said that. Always the same with you, because whatever.",
    "谢谢小王的评审，因为他总是能发现问题。",
    "我叫小王，电话是 13800000000，以后叫我小王，因为我喜欢。",
    "田中さんに感謝、彼は優秀なのでいつもバグを見つけてくれる。",
    "Gracias a Ana por la revisión, ella siempre encuentra errores porque es genial.",
    "Me llamo Ana, llámame siempre Ana porque me gusta.",
)
SLIPS = (
    "Fix failing test. The test failed because the expected string had a typo.",
    "修复失败的测试，因为期望的字符串里有错别字。",
    "テストの失敗を修正。期待する文字列に誤字があったため失敗していた。",
    "Corrige la prueba. Fallaba porque el texto esperado tenía una errata.",
)
RELEASES = (
    "Release 2.3.0\n\n- Fix crash because the parser returned None\n- Add Python 3.12\n- Always close the connection",
    "v1.4.0: fix a crash because the queue was empty, add dark mode, and always close idle connections",
    "发布 2.3.0\n\n- 修复配置为空时崩溃，因为解析器返回空\n- 支持暗色主题\n- 超时后必须关闭连接",
    "リリース 2.3.0\n\n- 空の設定でのクラッシュを修正、原因はパーサー\n- ダークモードに対応\n- 接続は必ず閉じる",
    "Versión 2.3.0\n\n- Corrige un fallo porque devolvía nulo\n- Añade el modo oscuro\n- Cierra siempre la conexión",
)
DONE = (
    "当初は接続不足を疑ったが、原因は DNS の遅延だったため、RES_TIMEOUT を 2 にする必要がある。",
    "jq reads numbers as doubles, so ids above 2^53 are rounded; keep them as strings.",
    "Requests could time out, so we changed MAX_POOL_SIZE from 10 to 50.",
    "Raised MAX_POOL_SIZE from 10 to 50 because requests might wait for a slot.",
    "因为请求可能排队，已把 MAX_POOL_SIZE 从 10 改为 50。",
    "待ちが発生していたため、MAX_POOL_SIZE を 10 から 50 に変更した。",
    "Cambiamos MAX_POOL_SIZE de 10 a 50 porque las peticiones podían esperar.",
    "We thought the pool was too small, but the cause was the DNS timeout: set RES_TIMEOUT to 2.",
    "Release builds crash because the linker strips the symbols; pass --keep-symbols.",
    "The upload failed because of a typo in `X-Amz-Date`; never build the header by hand.",
)


@pytest.mark.parametrize("kind", ["commit", "session"])
@pytest.mark.parametrize(
    "text",
    [*OFFERED, *POSSIBLE, *MADE_POSSIBLE, *REFUTED, *PEOPLE, *SLIPS, *RELEASES],
    ids=lambda text: text[:32],
)
def test_text_without_a_deed_or_a_fact_gives_no_candidate(reflector: Reflector, text: str, kind: str) -> None:
    """An offer, a possibility, a guess taken back, talk of people, a slip and a release note teach nothing."""
    assert [c.text for c in reflector.text(text, kind).candidates] == []


@pytest.mark.parametrize("text", DONE, ids=lambda text: text[:32])
def test_deed_with_its_reason_stays_a_candidate(reflector: Reflector, text: str) -> None:
    """A modal in the reason, a guess followed by the cause, or a slip with a rule does not void a lesson."""
    assert reflector.text(text).candidates


@pytest.mark.parametrize("text", [*OFFERED, *REFUTED], ids=lambda text: text[:32])
def test_reason_is_given_for_what_was_only_offered_or_taken_back(reflector: Reflector, text: str) -> None:
    """`--rejected` names the text and says in words why it is no lesson."""
    (rejection,) = reflector.text(text).rejected
    assert rejection.text
    assert len(rejection.reason.split()) > 3
