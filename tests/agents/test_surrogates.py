"""Half characters in JSON become the replacement character; all else stays."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memx.agents.surrogates import mend_surrogates

TEXTS = st.text(st.characters() | st.sampled_from('\ud83d\ude00\\u"dDaF8'))


@given(TEXTS)
def test_mended_json_holds_the_text_with_halves_replaced(text: str) -> None:
    """Whole characters, pairs and escaped backslashes are as they were."""
    whole = json.loads(json.dumps(text))  # two halves that follow one another are one character
    expected = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in whole)
    assert json.loads(mend_surrogates(json.dumps(text))) == expected


@given(st.text())
def test_text_without_halves_stays(text: str) -> None:
    """Nothing is touched that could be read."""
    for line in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        assert json.loads(mend_surrogates(line)) == text
