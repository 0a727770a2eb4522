"""Commits handed over as git printed them are the commits that are read one by one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memx.repo.discovery import open_repository
from memx.repo.git import CHUNK_BYTES
from memx.repo.history import FIELDS_A_COMMIT, parse_commits, read_commits, read_unparsed

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo


def test_unparsed_commits_parse_to_those_read_singly(git_repo: GitRepo) -> None:
    """Empty messages, other encodings and messages longer than a chunk come out the same, whole commits at a time."""
    messages = (b"", b"caf\xe9", b"Fix\n\nlong " + b"word " * CHUNK_BYTES, "修正".encode(), b"\n\n", b"last")
    parts = [
        b"commit refs/heads/main\ncommitter A <a@x> %d +0000\ndata %d\n%s\n" % (1_700_000_000 + at, len(m), m)
        for at, m in enumerate(messages)
    ]
    git_repo.git("fast-import", "--quiet", stdin=b"".join(parts))
    repo = open_repository(str(git_repo.path), os.environ)
    groups = list(read_unparsed(repo))
    assert all(len(fields) % FIELDS_A_COMMIT == 0 for fields in groups)
    parsed = [commit for fields in groups for commit in parse_commits(b"\0".join(fields))]
    assert parsed == list(read_commits(repo))
    assert len(parsed) == len(messages)


def test_unparsed_unborn_head_is_empty(git_repo: GitRepo) -> None:
    """A repository without commits gives no fields, and no fields give no commits."""
    assert list(read_unparsed(open_repository(str(git_repo.path), os.environ))) == []
    assert list(parse_commits(b"")) == []
