"""Messages that were put together are taken apart; messages that people wrote stay whole."""

from __future__ import annotations

import pytest

from memx.model import Commit
from memx.repo.squash import paragraphs, split_squash

FORGE = """Feature F (#12)

* fix: svc A

Lesson A.

* fix: svc B

Lesson B.

* typo

---------

Co-authored-by: Ann <ann@example.org>"""
TEMPLATE = """# This is a combination of 3 commits.
# This is the 1st commit message:

One

Body of one

# This is the commit message #2:

Two

# The commit message #3 will be skipped:

# fixup! One"""


def messages(text: str) -> list[str]:
    """Return the messages of the parts."""
    return [part.message for part in split_squash(Commit(sha="a" * 40, message=text))]


def test_forge_list_is_one_message_an_item() -> None:
    """Each item begins a message of its own, and what stands around them belongs to the squash."""
    own = "Feature F (#12)\n\nCo-authored-by: Ann <ann@example.org>"
    assert messages(FORGE) == ["fix: svc A\n\nLesson A.", "fix: svc B\n\nLesson B.", "typo", own]


def test_rebase_template_is_one_message_a_commit() -> None:
    """The comment lines of a rebase part the messages and belong to none."""
    assert messages(TEMPLATE) == ["One\n\nBody of one", "Two", ""]
    assert paragraphs(TEMPLATE) == ["One", "Body of one", "Two"]


@pytest.mark.parametrize(
    "text",
    [
        "Subject\n\n* one\n* two\n* three",
        "Subject\n\n* one\n\n* two\n\n* three",
        "Subject\n\n* one\n\nA closing paragraph.",
        "Subject\n\n* one\n\n* two\n\nA closing paragraph.",
        "Subject\n\n* one\n\n* two\n\nSigned-off-by: Ann <ann@example.org>\nCc: Bob <bob@example.org>",
        "Subject\n\n- one that goes\n  on here\n\n  and here\n\n- two that goes\n  on",
        "# This is a heading\n\nBody",
        "",
    ],
)
def test_message_of_one_commit_stays_whole(text: str) -> None:
    """A list that a person wrote is no list of commits."""
    assert messages(text) == [text]
