"""A lesson's text: it names what it speaks of, keeps its meaning, and holds identifiers as they were written."""

from __future__ import annotations

import pytest

from memx.reflector.distiller import reword

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
        "Sort migrations by number\n\nThe loader reads the folder in directory order. So it fails on ext4, because it is random.",
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
