"""What texts that are written almost alike differ in: kinds of difference that forbid a merge, in four languages."""

from __future__ import annotations

import pytest

from memx.config import CuratorConfig
from memx.curator.judge import judge_texts

CONFIG = CuratorConfig()

APART = {
    "sign": (
        ("Set nice to 10 for the batch job.", "Set nice to -10 for the batch job."),
        ("Set nice to 10 for the batch job.", "Set nice to \u221210 for the batch job."),
        ("Set vm.swappiness to ten.", "Set vm.swappiness to minus ten."),
        ("Shift the clock by +3 hours.", "Shift the clock by -3 hours."),
        ("The server is at UTC +3.", "The server is at UTC -3."),
        ("Pon nice a 10 en el lote.", "Pon nice a -10 en el lote."),
        ("把 nice 设为 10。", "把 nice 设为 -10。"),
        ("nice を 10 に設定する。", "nice を -10 に設定する。"),
    ),
    "curly apostrophe": (
        ("Don\u2019t run the migration twice.", "Run the migration twice."),
        ("The cache isn\u2019t shared between workers.", "The cache is shared between workers."),
        ("The job doesn\u2019t retry.", "The job does retry."),
        ("Workers can\u2019t write to the replica.", "Workers can write to the replica."),
        ("Workers can't write to the replica.", "Workers can write to the replica."),
    ),
    "small word": (
        ("Build the image with cache.", "Build the image without cache."),
        ("Restart the worker if the queue is full.", "Restart the worker unless the queue is full."),
        ("Give the bot read access to the bucket.", "Give the bot write access to the bucket."),
        ("Call the gateway over http.", "Call the gateway over https."),
        ("Construye la imagen con caché.", "Construye la imagen sin caché."),
        ("在没有缓存的情况下构建镜像。", "在有缓存的情况下构建镜像。"),
        ("キャッシュなしでビルドする。", "キャッシュありでビルドする。"),
        ("Da al bot acceso de lectura.", "Da al bot acceso de escritura."),
        ("给机器人读权限。", "给机器人写权限。"),
        ("ボットに読み取り権限を与える。", "ボットに書き込み権限を与える。"),
    ),
    "bound": (
        ("Allow at most 5 retries.", "Allow at least 5 retries."),
        ("Allow up to 5 retries.", "Allow 5 or more retries."),
        ("Permite como máximo 5 reintentos.", "Permite al menos 5 reintentos."),
        ("最多重试 5 次。", "至少重试 5 次。"),
        ("リトライは5回以下にする。", "リトライは5回以上にする。"),
        ("Alert when load > 5.", "Alert when load < 5."),
        ("Alert when load >= 5.", "Alert when load > 5."),
        ("Alert when code == 5.", "Alert when code != 5."),
        ("Pin the library at ~1.2.3.", "Pin the library at ^1.2.3."),
        ("Ignore *.log files.", "Ignore !*.log files."),
        ("Avisa cuando carga > 5.", "Avisa cuando carga < 5."),
        ("当负载 > 5 时告警。", "当负载 < 5 时告警。"),
        ("負荷 > 5 のとき通知する。", "負荷 < 5 のとき通知する。"),
    ),
    "case and punctuation": (
        ("Write the plugin in C.", "Write the plugin in C++."),
        ("Write the plugin in C++.", "Write the plugin in C#."),
        ("Run the tool with -v.", "Run the tool with -V."),
        ("Set UMASK to 022.", "Set umask to 022."),
        ("The link carries 10 GB.", "The link carries 10 Gb."),
        ("The link carries 10 MB.", "The link carries 10 Mb."),
        ("Put the file in /etc/app.", "Put the file in etc/app."),
        ("Write dates as YYYY-MM-DD.", "Write dates as DD-MM-YYYY."),
        ("Mix them at a ratio of 1:2.", "Mix them at a ratio of 2:1."),
        ("Usa C.", "Usa C#."),
        ("Ejecuta la herramienta con -v.", "Ejecuta la herramienta con -V."),
        ("用 C 写插件。", "用 C++ 写插件。"),
        ("プラグインはCで書く。", "プラグインはC#で書く。"),
    ),
    "word order": (
        ("Convert UTF-8 to UTF-16.", "Convert UTF-16 to UTF-8."),
        ("Cast string to int.", "Cast int to string."),
        ("Map A to B.", "Map B to A."),
        ("Redirect http to https.", "Redirect https to http."),
        ("Merge main into dev.", "Merge dev into main."),
        ("Rebase dev onto main.", "Rebase main onto dev."),
        ("The master replicates to the slave.", "The slave replicates to the master."),
        ("A depends on B.", "B depends on A."),
        ("A is faster than B.", "B is faster than A."),
        ("The order service calls the payment service.", "The payment service calls the order service."),
        ("Close the file, then delete it.", "Delete the file, then close it."),
        ("A es más rápido que B.", "B es más rápido que A."),
        ("Convierte la cadena en entero.", "Convierte el entero en cadena."),
        ("A 比 B 快。", "B 比 A 快。"),
        ("把字符串转换为整数。", "把整数转换为字符串。"),
        ("订单服务调用支付服务。", "支付服务调用订单服务。"),
        ("AはBより速い。", "BはAより速い。"),
        ("注文サービスは決済サービスを呼び出す。", "決済サービスは注文サービスを呼び出す。"),
    ),
    "numeral": (
        ("超时设为三十秒。", "超时设为六十秒。"),
        ("超时设为三十秒。", "超时设为十秒。"),
        ("タイムアウトは三十秒にする。", "タイムアウトは六十秒にする。"),
    ),
}  # fmt: skip

TOGETHER = (
    ("Set nice to \u221210 for the batch job.", "Set nice to -10 for the batch job."),
    ("Don\u2019t run the migration twice.", "Don't run the migration twice."),
    ("Workers cannot write to the replica.", "Workers can't write to the replica."),
    ("Because the cache is cold, warm it up first.", "Warm it up first because the cache is cold."),
    ("Before deploying, run the smoke tests.", "Run the smoke tests before deploying."),
    ("If the queue is full, restart the worker.", "Restart the worker if the queue is full."),
    ("On CI, use the frozen lockfile.", "Use the frozen lockfile on CI."),
    ("Si la cola está llena, reinicia el worker.", "Reinicia el worker si la cola está llena."),
    ("如果队列满了，重启工作进程。", "重启工作进程，如果队列满了。"),
    ("Call the API over JSON.", "Call the api over json."),
    ("NEVER push to the main branch.", "Never push to the main branch."),
    ("The timeout is thirty seconds.", "The timeout is 30 seconds."),
    ("超时设为三十秒。", "超时设为30秒。"),
    ("タイムアウトは三十秒にする。", "タイムアウトは30秒にする。"),
    ("Use the pnpm lockfile.", "Use a pnpm lockfile!"),
)


OPPOSITES = (
    ("Sort the rows ascending.", "Sort the rows descending."),
    ("The end of the range is inclusive.", "The end of the range is exclusive."),
    ("The driver is thread safe.", "The driver is thread unsafe."),
    ("Use a blocking socket.", "Use a non-blocking socket."),
    ("The sampler is deterministic.", "The sampler is nondeterministic."),
    ("Ordena las filas en orden ascendente.", "Ordena las filas en orden descendente."),
    ("按升序排序结果。", "按降序排序结果。"),
    ("結果を昇順で並べる。", "結果を降順で並べる。"),
)


@pytest.mark.parametrize(("a", "b"), OPPOSITES)
def test_opposite_adjectives_contradict(a: str, b: str) -> None:
    """Ascending and descending, inclusive and exclusive, and what a prefix turns round."""
    assert judge_texts(a, b, 0.9, CONFIG).contradiction


@pytest.mark.parametrize("cosine", [0.7, 1.0])
@pytest.mark.parametrize(
    ("kind", "a", "b"), [(kind, *pair) for kind, pairs in APART.items() for pair in pairs]
)
def test_what_is_written_otherwise_is_not_merged(kind: str, a: str, b: str, cosine: float) -> None:
    """A sign, a bound, a small word, a case that matters or an exchanged role makes another lesson."""
    verdict = judge_texts(a, b, cosine, CONFIG)
    assert verdict.action != "merge", kind


@pytest.mark.parametrize(("a", "b"), TOGETHER)
def test_what_is_written_otherwise_but_says_the_same_is_merged(a: str, b: str) -> None:
    """A curly apostrophe, a moved clause and a shouted word make no other lesson."""
    assert judge_texts(a, b, 1.0, CONFIG).action == "merge"


def test_opening_circumstance_without_a_comma_may_stand_at_the_end_of_its_clause() -> None:
    """What "before the deployment" opens is one clause; the reason behind it stays where it is."""
    a = "Before the deployment always pin the cache, because the clock drifts."
    b = "Always pin the cache before the deployment, because the clock drifts."
    turned = "Always pin the deployment before the cache, because the clock drifts."
    assert judge_texts(a, b, 0.95, CuratorConfig()).action == "merge"
    assert judge_texts(a, turned, 0.95, CuratorConfig()).action != "merge"
