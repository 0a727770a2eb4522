"""Squashed, fixed up, reworded and amended commits bring no lesson twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hooks.conftest import taught

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
