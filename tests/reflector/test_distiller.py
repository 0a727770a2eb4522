"""A lesson's text: it names what it speaks of, keeps its meaning, and holds identifiers as they were written."""

from __future__ import annotations

import pytest

from memx.reflector.distiller import entities_of, reword
from memx.reflector.subject import tools_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector import Reflector

LEANING = (
    (
        "Keep tenant ids out of URLs\n\nThey must never appear in a path because the CDN caches by path.",
        "Keep tenant ids out of URLs. They must",
    ),
    (
        "Retry uploads with a fresh token\n\nOtherwise they fail after an hour because the signature expires.",
        "Retry uploads with a fresh token. Otherwise",
    ),
    (
        "Sort migrations by number\n\nThe loader reads in directory order. So it fails on ext4, because it is random.",
        "directory order. So it fails",
    ),
    (
        "上传重试时换用新的令牌\n\n否则一小时后会失败，因为签名已经过期。",
        "上传重试时换用新的令牌。否则一小时后",
    ),
    (
        "租户编号不要放进地址\n\n它们绝不能出现在路径里，因为 CDN 按路径缓存，会把别人的页面返回给用户。",
        "租户编号不要放进地址。它们绝不能",
    ),
    (
        "アップロードの再試行では新しいトークンを使う\n\nさもないと署名の期限が切れるため、一時間後に必ず失敗する。",
        "新しいトークンを使う。さもないと",
    ),
    (
        "テナント番号を URL に入れない\n\nこれをパスに書いてはいけない。CDN が他人のページを返すため。",
        "テナント番号を URL に入れない。これを",
    ),
    (
        "Reintenta las subidas con un token nuevo\n\nDe lo contrario fallan en una hora porque la firma caduca.",
        "Reintenta las subidas con un token nuevo. De lo contrario",
    ),
)


@pytest.mark.parametrize(("message", "kept"), LEANING, ids=lambda text: text[:24])
def test_sentence_that_leans_on_another_keeps_it(reflector: Reflector, message: str, kept: str) -> None:
    """`They` and `otherwise` stand behind what they speak of, the sentence before or the title."""
    (candidate,) = reflector.text(message).candidates
    assert kept in candidate.text


def test_revert_is_what_its_reason_leans_on(reflector: Reflector) -> None:
    """Git's own sentence about the commit names nothing."""
    message = 'Revert "Use threads in the importer"\n\nThis reverts commit 1234567. They deadlock because the driver'
    (candidate,) = reflector.text(f"{message} holds the GIL while waiting.").candidates
    assert candidate.text.startswith('Revert "Use threads in the importer". They deadlock')


@pytest.mark.parametrize(
    "text",
    [
        "I never said that.",
        "We always forget the flag, because nobody reads the guide.",
        "I don't know why the cache is empty.",
        "We have a second queue for mails.",
        "We only saw it on Linux.",
    ],
)
def test_report_keeps_who_it_speaks_of(text: str) -> None:
    """Without its `we` a report would be an order, and mean something else."""
    assert reword(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We must never log the token.", "Must never log the token."),
        ("We never commit generated files.", "Never commit generated files."),
        ("So we have to pin numpy.", "Have to pin numpy."),
    ],
)
def test_rule_is_given_without_its_speaker(text: str, expected: str) -> None:
    """A rule is one whoever says it."""
    assert reword(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "pnpm does not hoist dependencies.",
        "flock is local on NFS, take a lease.",
        "sort -u drops equal lines of one file only.",
        "einsum_path is expensive.",
        "make is run twice by the hook.",
        "test returns 1 without brackets.",
        "flock は NFS 上では効かない。",
        "rsync 会保留时间戳。",
        "rsync conserva las fechas solo con -t.",
    ],
)
def test_identifier_at_the_beginning_stays_as_written(text: str) -> None:
    """A command's name with a capital is another name."""
    assert reword(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fix: the cache is keyed by path", "The cache is keyed by path"),
        ("fix: use a lease file", "Use a lease file"),
        ("so, the proxy drops it", "The proxy drops it"),
        ("no, don't put it there", "Don't put it there"),
        ("fix: no uses rutas absolutas", "No uses rutas absolutas"),
    ],
)
def test_ordinary_word_at_the_beginning_gets_its_capital(text: str, expected: str) -> None:
    """A sentence whose prefix was cut off begins as one."""
    assert reword(text, is_title=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pass --max-workers=2.", ("--max-workers=2",)),
        ("Set CACHE_DIR to /var/cache.", ("CACHE_DIR", "/var/cache")),
        ("Clone to ~/work/client.", ("~/work/client",)),
        ("Clone it (to ~/work/client).", ("~/work/client",)),
        ("Call flush(), then --quiet, then stop.", ("flush()", "--quiet")),
        ("Connect to postgres://app@db:5432/app.", ()),
        ("See https://example.org/a/b_c.html, then set A_B.", ("A_B",)),
        ("把 --max-workers=2，再试。", ("--max-workers=2",)),
        ("`--max-workers=2` を渡す。", ("--max-workers=2",)),
        ("Usa --max-workers=2; si no, falla.", ("--max-workers=2",)),
    ],
)
def test_entity_is_whole_and_without_the_sentences_end(text: str, expected: tuple[str, ...]) -> None:
    """A full stop belongs to the sentence, and a piece of an address is no name."""
    assert entities_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Make the nightly build green", ()),
        ("The next step is to go on; react to errors of that kind.", ()),
        ("The stack is deep and the vault is full.", ()),
        ("`make test` fails.", ("make",)),
        ("Run make before the tests.", ("make",)),
        ("make test fails on macOS.", ("make",)),
        ("Since Node 20 it is global.", ("node",)),
        ("Node 20 has it.", ("node",)),
        ("用 make 构建。", ("make",)),
        ("make を使う。", ("make",)),
        ("Compila usando make.", ("make",)),
        ("pnpm is strict.", ("pnpm",)),
    ],
)
def test_ordinary_word_is_a_tool_only_where_it_is_written_as_one(
    text: str, expected: tuple[str, ...]
) -> None:
    """`Make it green` names no build tool."""
    assert tools_of(text) == expected


NARRATED = (
    (
        "Retrying with legacy resolution.",
        "The install fails because react 18 is a peer; pass --legacy-peer-deps.",
    ),
    ("I'll check the logs.", "The worker was killed because it held two copies; set BATCH_SIZE to 100."),
    ("Now let me run the tests.", "The token expires after an hour, so refresh it before each upload."),
    (
        "No, you edited the wrong file.",
        "Never edit dist/app.js, because the build overwrites it; edit src/app.ts.",
    ),
    ("Run.", "The job hangs because stdin stays open; pass --no-input."),
    ("查一下。", "原因是连接池太小导致超时，把 MAX_POOL_SIZE 改为 50。"),
    ("不对，你改错文件了。", "不要改 dist/app.js，因为构建会覆盖它，改 src/app.ts。"),
    ("ログを確認します。", "原因は接続数の不足だったため、MAX_POOL_SIZE を 50 にする必要がある。"),
    ("違います。", "dist/app.js は編集しないでください。ビルドで上書きされるため。"),
    (
        "Voy a revisar los registros.",
        "Fallaba porque el pool era pequeño; hay que poner MAX_POOL_SIZE en 50.",
    ),
    (
        "Te equivocaste de archivo.",
        "No edites dist/app.js porque la compilación lo sobrescribe; edita src/app.ts.",
    ),
)


@pytest.mark.parametrize(("said", "lesson"), NARRATED, ids=lambda text: text[:24])
def test_what_is_said_of_the_conversation_alone_is_left_out(
    reflector: Reflector, said: str, lesson: str
) -> None:
    """What somebody is about to look at, and who was wrong, is no part of a lesson."""
    (candidate,) = reflector.text(f"{said} {lesson}", "session").candidates
    assert said.rstrip(".。") not in candidate.text
    assert candidate.text[-12:] in lesson
