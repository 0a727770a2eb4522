"""The evidence gate and the reading of facts."""

from __future__ import annotations

import pytest

from memx.curator.features import compare
from memx.curator.gate import evidence
from memx.curator.tokens import analyse


def kinds(a: str, b: str) -> set[str]:
    """Return the kinds of veto between two texts."""
    return {veto.kind for veto in evidence(compare(analyse(a), analyse(b)))}


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("Wait 3 seconds for the probe.", "Wait 30 seconds for the probe.", "value"),
        ("网关超时是 3 秒。", "网关超时是 30 秒。", "value"),
        ("ゲートウェイのタイムアウトは3秒。", "ゲートウェイのタイムアウトは30秒。", "value"),
        ("El límite es de 3 MB por fichero.", "El límite es de 30 MB por fichero.", "value"),
        ("Ticket #4127 explains the leak.", "Ticket #4172 explains the leak.", "number"),
        ("Backups run on staging at night.", "Backups run on production at night.", "environment"),
        ("备份在生产环境运行。", "备份在测试环境运行。", "environment"),
        ("The path differs on Linux.", "The path differs on Windows.", "system"),
        ("Call `fetch_user` first.", "Call `fetch_users` first.", "identifier"),
        ("Edit `conf/a.yml` first.", "Edit `conf/b.yml` first.", "path"),
        ("Run it with `--fast`.", "Run it with `--slow-mode`.", "flag"),
        ("Commit 9c41e07 broke it.", "Commit 9c14e70 broke it.", "commit"),
        ("It starts at 07:15.", "It starts at 08:45.", "value"),
    ],
)
def test_differing_fact_is_named(a: str, b: str, kind: str) -> None:
    """Each kind of fact that differs is a reason against a merge."""
    assert kind in kinds(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Wait 5 s.", "Wait 5000 ms."),
        ("Wait half an hour.", "Wait 1800 seconds."),
        ("Builds take about 15 minutes.", "Builds take 14 minutes."),
        ("最多重试三次。", "最多重试 3 次。"),
        ("Show `kubectl logs -p`.", "Show `kubectl logs --previous`."),
        ("Reply within 24 hours.", "Reply within one day."),
    ],
)
def test_same_fact_in_other_words_is_no_veto(a: str, b: str) -> None:
    """Units, number words, hedges and short flags do not tell two lessons apart."""
    assert kinds(a, b) == set()


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Use the cache", "en"),
        ("使用缓存", "zh"),
        ("キャッシュを使う", "ja"),
        ("Usa la caché en el proxy", "es"),
    ],
)
def test_language_is_detected(text: str, lang: str) -> None:
    """Kana, Han characters and common words tell the languages apart."""
    assert analyse(text).lang == lang


@pytest.mark.parametrize(
    ("text", "key", "stance"),
    [
        ("Never use `eval` here.", "eval", -1),
        ("Use `eval` here.", "eval", 1),
        ("Never deploy without `audit`.", "audit", 1),
        ("不要使用 eval。", "eval", -1),
        ("evalは使わない。", "eval", -1),
        ("No uses eval en el código.", "eval", -1),
        ("Prefer zig over rustc.", "rustc", -1),
    ],
)
def test_stance_follows_negation(text: str, key: str, stance: int) -> None:
    """A word that the text turns down is told from one that it advises."""
    analysis = analyse(text)
    assert analysis.units[analysis.index[key]].stance == stance


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("Copy rows from Paris to Oslo.", "Rows are copied from Oslo to Paris.", "direction"),
        ("把订单从北京同步到上海。", "把订单从上海同步到北京。", "direction"),
        (
            "Open the valve before you start the pump.",
            "Start the pump before you open the valve.",
            "opposite",
        ),
        ("先打开阀门再启动水泵。", "先启动水泵再打开阀门。", "opposite"),
        ("バルブを開いてからポンプを起動する。", "ポンプを起動してからバルブを開く。", "opposite"),
        (
            "Primero abre la válvula y luego arranca la bomba.",
            "Primero arranca la bomba y luego abre la válvula.",
            "opposite",
        ),
        ("The watcher works on the new kernel.", "The watcher is broken on the new kernel.", "opposite"),
        ("Ask Ada about the ledger export.", "Ask Grace about the export of the ledger.", "name"),
        ("Next week we paint the small door.", "Last week we painted the big door.", "wording"),
    ],
)
def test_turned_route_order_or_name_is_named(a: str, b: str, kind: str) -> None:
    """Where things go, what comes first, whether it works, and who it is: each keeps two lessons apart."""
    assert kind in kinds(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("No borres nunca el índice.", "Nunca borres el índice."),
        ("Do not open the port in staging.", "In staging do not open the port."),
        ("Edit `conf/gradle/a.toml` first.", "Edit `gradle/a.toml` first."),
    ],
)
def test_agreeing_negation_and_circumstance_are_no_veto(a: str, b: str) -> None:
    """Two words of one negation, another place for the circumstance, a file with more folders: one lesson."""
    assert kinds(a, b) == set()
