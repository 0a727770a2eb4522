"""Where a project keeps what is its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memx.app.project import Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.git_repo import GitRepo

NOW = 1_796_000_000.0
ID = "k3v9q2m7xa"


def test_journal_counts_what_was_recalled_while_the_repository_was_read_only(
    git_repo: GitRepo, tmp_path: Path
) -> None:
    """Recalls counted in the user's folder count again beside git's, whatever else lies in that folder."""
    environ = dict(os.environ) | {"XDG_STATE_HOME": str(tmp_path / "state")}

    def project() -> Project:
        return Project(str(git_repo.path), environ, NOW)

    assert project().journal.effective({ID: 1}) == {ID: 1}
    elsewhere = project()
    shared = elsewhere.state_dir
    elsewhere.__dict__["state_dir"] = elsewhere._own_state_dir  # as where git's folder cannot be written
    elsewhere.journal.record([ID], NOW, 0)
    (tmp_path / "state" / "memx" / "trust").write_text("")
    assert os.path.dirname(shared) == os.path.join(str(git_repo.path), ".git")
    assert project().journal.effective({ID: 1}) == {ID: 2}
