"""Telephone numbers are personal like e-mail addresses: replaced where a word or their form says what they are."""

from __future__ import annotations

import pytest

from memx.redact import PrivacySanitizer

NUMBERS = (
    ("My phone is 555-1234, call me.", "555-1234"),
    ("Tel.: (030) 901820 is on duty.", "(030) 901820"),
    ("The on-call mobile number is 0170 1234567.", "0170 1234567"),
    ("Reach the data centre at +49 30 901 820 000.", "+49 30 901 820 000"),
    ("我的电话是 13800138000，有问题打给我。", "13800138000"),
    ("値班手机号码：138-0013-8000。", "138-0013-8000"),
    ("当番の電話番号は 03-1234-5678 です。", "03-1234-5678"),
    ("Mi teléfono es 612 345 678.", "612 345 678"),
)
HARMLESS = (
    "Phone numbers have 10 digits; store them as text.",
    "The telemetry endpoint drops 1000000 events a day.",
    "Raise the limit from 10 000 000 to 20 000 000.",
    "tel_index 20261130 was rebuilt.",
    "Commit 1234567 broke mobile builds since 2024-01-01.",
    "Cell 10 of 12000000 is empty.",
    "The diff has +120 -30 lines.",
    "手机端缓存 7 天。",
    "携帯版は 2 MB まで。",
)


@pytest.mark.parametrize(("text", "number"), NUMBERS, ids=lambda text: text[:16])
def test_telephone_number_is_replaced(text: str, number: str) -> None:
    """Whoever reads the store later need not know it."""
    assert PrivacySanitizer().sanitize(text).text == text.replace(number, "<phone>")


@pytest.mark.parametrize("text", HARMLESS, ids=lambda text: text[:16])
def test_other_number_stays(text: str) -> None:
    """A limit, a date and a count are what lessons are made of."""
    assert PrivacySanitizer().sanitize(text).text == text


@pytest.mark.parametrize(("text", "number"), NUMBERS, ids=lambda text: text[:16])
def test_redacting_twice_changes_nothing(text: str, number: str) -> None:
    """What was replaced holds nothing more to replace."""
    once = PrivacySanitizer().sanitize(text).text
    assert number not in once
    assert PrivacySanitizer().sanitize(once).text == once
