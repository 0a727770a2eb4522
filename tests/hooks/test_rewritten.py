"""Squashed, fixed up, reworded and amended commits bring no lesson twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.repo.discovery import open_repository
from memx.store.inbox import Inbox
from tests.hooks.conftest import LESSONS, lesson_message, taught, with_hooks

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

BODIES = {
    "alpha": "Always run the migrations before the workers start, because old workers lock the jobs table.",
    "beta": "The Redis pool needs MAX_POOL_SIZE 50, because 10 connections time out under load.",
    "gamma": "Always use `pnpm install --frozen-lockfile` in CI, since npm rewrites the lock file.",
}


def message(name: str) -> str:
    """Return a message whose body teaches a lesson in a sentence."""
    return f"fix: svc {name}\n\n{BODIES[name]}"


def forge_message() -> str:
    """Return what a forge writes for a squash merge of three commits."""
    items = "\n\n".join(f"* {message(name)}" for name in BODIES)
    return f"Feature F (#12)\n\n{items}\n\n---------\n\nCo-authored-by: Ann <ann@example.org>"


def test_squash_message_of_a_forge_gives_a_teammate_each_lesson(hooked_repo: GitRepo) -> None:
    """Three commits in one message are three lessons."""
    hooked_repo.commit(forge_message(), {"b.txt": "1\n"})
    assert taught(hooked_repo) == sorted(BODIES)


def test_squash_message_of_a_forge_gives_its_author_nothing_new(hooked_repo: GitRepo) -> None:
    """Whoever has the commits has their lessons already."""
    for name in BODIES:
        hooked_repo.commit(message(name), {f"{name}.txt": "1\n"})
    assert taught(hooked_repo) == sorted(BODIES)
    hooked_repo.git("checkout", "-q", "-b", "upstream", "HEAD~3")
    hooked_repo.commit(forge_message(), {"all.txt": "1\n"})
    assert taught(hooked_repo) == sorted(BODIES)


def inbox(repo: GitRepo) -> Inbox:
    """Return the inbox of a repository."""
    return Inbox(os.path.join(open_repository(str(repo.path), os.environ).common_dir, "memx"))


def listed(repo: GitRepo) -> list[tuple[str, str]]:
    """Return the ids and texts in the inbox."""
    return sorted((candidate.id, candidate.text) for candidate in inbox(repo).all())


def test_autosquash_of_fixups_brings_nothing_new(hooked_repo: GitRepo) -> None:
    """The templates of the steps between are no lessons, and the result is the commit that was there."""
    hooked_repo.commit("Before", {"z.txt": "1\n"})
    hooked_repo.commit("fix: retry\n\n" + BODIES["alpha"], {"b.txt": "1\n"})
    before = listed(hooked_repo)
    for number in ("2", "3"):
        hooked_repo.write("b.txt", f"{number}\n")
        hooked_repo.git("commit", "-q", "-a", "--fixup", ":/fix: retry")
    hooked_repo.git("-c", "sequence.editor=true", "rebase", "-q", "-i", "--autosquash", "HEAD~3")
    assert len(before) == 1
    assert listed(hooked_repo) == before


@pytest.mark.parametrize("kind", ["sentence", "trailer"])
def test_squash_of_lessons_in_a_rebase_brings_nothing_new(kind: str, hooked_repo: GitRepo) -> None:
    """Neither the commits between nor the fused message are news."""
    for name in BODIES:
        text = message(name) if kind == "sentence" else lesson_message(name)
        hooked_repo.commit(text, {f"{name}.txt": "1\n"})
    before = listed(hooked_repo)
    env = {"GIT_SEQUENCE_EDITOR": "sed -i -e '2,$s/^pick/squash/'", "GIT_EDITOR": "true"}
    hooked_repo.git("rebase", "-q", "-i", "HEAD~3", env=env)
    assert len(before) == 3
    assert listed(hooked_repo) == before


def test_squash_takes_what_its_message_adds(hooked_repo: GitRepo) -> None:
    """A lesson that a person writes into the fused message is new, and alone so."""
    for name in ("alpha", "beta"):
        hooked_repo.commit(message(name), {f"{name}.txt": "1\n"})
    env = {
        "GIT_SEQUENCE_EDITOR": "sed -i -e '2,$s/^pick/squash/'",
        "GIT_EDITOR": f"printf '\\n%s\\n' '{BODIES['gamma'].replace('`', '')}' >>",
    }
    hooked_repo.git("rebase", "-q", "-i", "HEAD~2", env=env)
    assert taught(hooked_repo) == ["alpha", "beta", "gamma"]


def test_squash_of_commits_from_before_the_hooks_gives_each_lesson(git_repo: GitRepo) -> None:
    """What nobody distilled is taken from the messages that were put together."""
    git_repo.commit("Start", {"a.txt": "1\n", ".memx/.gitignore": "\n"})
    for name in BODIES:
        git_repo.commit(message(name), {f"{name}.txt": "1\n"})
    with_hooks(git_repo)
    env = {"GIT_SEQUENCE_EDITOR": "sed -i -e '2,$s/^pick/squash/'", "GIT_EDITOR": "true"}
    git_repo.git("rebase", "-q", "-i", "HEAD~3", env=env)
    assert taught(git_repo) == sorted(BODIES)
    assert {c.source for c in inbox(git_repo).all()} == {f"commit {git_repo.git('rev-parse', 'HEAD')}"}


@pytest.mark.parametrize("log", ["true", "false"])
@pytest.mark.parametrize("decision", ["", "accepted", "rejected"])
def test_amended_subject_gives_no_second_candidate(log: str, decision: str, hooked_repo: GitRepo) -> None:
    """A candidate that waits is replaced, one that was decided stays decided, with and without a reflog."""
    hooked_repo.git("config", "core.logAllRefUpdates", log)
    if log == "false":
        (hooked_repo.path / ".git" / "logs" / "HEAD").unlink()
    hooked_repo.commit(f"fix: start of the workers in order\n\n{BODIES['alpha']}", {"b.txt": "1\n"})
    for candidate in inbox(hooked_repo).all() if decision else ():
        inbox(hooked_repo).decide(candidate.id, decision)
    for subject in ("fix: order of the workers and migrations", "fix: migrations go first of all"):
        hooked_repo.git("commit", "-q", "--amend", "-m", f"{subject}\n\n{BODIES['alpha']}")
    assert taught(hooked_repo) == ([] if decision else ["alpha"])
    if not decision:
        assert inbox(hooked_repo).all()[0].source == f"commit {hooked_repo.git('rev-parse', 'HEAD')}"


def test_amend_that_adds_a_lesson_is_distilled(hooked_repo: GitRepo) -> None:
    """Another body is another lesson, even when the first was accepted."""
    hooked_repo.commit(lesson_message("alpha"), {"b.txt": "1\n"})
    inbox(hooked_repo).decide(inbox(hooked_repo).all()[0].id, "accepted")
    hooked_repo.git("commit", "-q", "--amend", "-m", lesson_message("beta"))
    assert taught(hooked_repo) == ["beta"]


def test_forge_that_numbers_a_subject_gives_its_author_nothing_new(hooked_repo: GitRepo) -> None:
    """A pull request of one commit comes back with `(#12)` behind its subject, and says what waits already."""
    hooked_repo.commit(f"fix: start of the workers\n\n{BODIES['alpha']}", {"b.txt": "1\n"})
    hooked_repo.git("checkout", "-q", "-b", "upstream", "HEAD~1")
    hooked_repo.commit(f"fix: start of the workers (#12)\n\n{BODIES['alpha']}", {"b.txt": "1\n"})
    assert taught(hooked_repo) == ["alpha"]


def test_messages_joined_after_a_soft_reset_bring_nothing_new(hooked_repo: GitRepo) -> None:
    """No list of git says what became of the commits, but every sentence waits for review already."""
    for name in ("alpha", "beta"):
        hooked_repo.commit(lesson_message(name), {f"{name}.txt": "1\n"})
    hooked_repo.git("reset", "-q", "--soft", "HEAD~2")
    hooked_repo.git("commit", "-q", "-m", f"{LESSONS['alpha']}\n\n{LESSONS['beta']}")
    assert taught(hooked_repo) == ["alpha", "beta"]


def test_reword_in_a_rebase_replaces_what_waits(hooked_repo: GitRepo) -> None:
    """The candidate of the old wording gives way to that of the new commit."""
    hooked_repo.commit(f"fix: start of the workers in order\n\n{BODIES['alpha']}", {"b.txt": "1\n"})
    env = {
        "GIT_SEQUENCE_EDITOR": "sed -i -e '1s/^pick/reword/'",
        "GIT_EDITOR": "sed -i -e '1s/.*/fix: migrations go first of all/'",
    }
    hooked_repo.git("rebase", "-q", "-i", "HEAD~1", env=env)
    assert taught(hooked_repo) == ["alpha"]
    assert inbox(hooked_repo).all()[0].source == f"commit {hooked_repo.git('rev-parse', 'HEAD')}"
