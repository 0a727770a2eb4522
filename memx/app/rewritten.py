"""Commits that git made from others: squashed, fixed up, reworded, amended.

What their old commits taught is known, so only what is new in them is news,
and a candidate of the old commit gives way to that of the new one.
"""

from __future__ import annotations

import os

from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from memx.app.project import Project
    from memx.model import Candidate, Commit
    from memx.repo.discovery import Repository

_TAIL = 4096
"""Bytes of the reflog that hold its last line."""
_AMENDED = b"\tcommit (amend): "


def amended_from(repository: Repository, new: str) -> str:
    """Return the commit that HEAD's last commit amended, '' when it amended none or no log is kept."""
    try:
        with open(os.path.join(repository.git_dir, "logs", "HEAD"), "rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL))
            last = stream.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return ""
    words = last.split(b" ", 2)
    if _AMENDED not in last or len(words) < 3 or words[1] != new.encode():  # noqa: PLR2004 (old, new, rest)
        return ""
    return words[0].decode("ascii", "replace")


def sort_out(
    project: Project, repository: Repository, pairs: Iterable[Sequence[str]], seen: AbstractSet[str]
) -> tuple[list[Commit], set[str]]:
    """Return what is left to distil of rewritten commits, and the new hashes that this settles.

    pairs: git's old and new hashes; several old ones of one new one were
    squashed. seen: the hashes that were distilled.
    """
    sources: dict[str, list[str]] = {}
    for old, new in pairs:
        sources.setdefault(new, []).append(old)
    sources = {new: olds for new, olds in sources.items() if len(olds) > 1 or olds[0] in seen}
    commits = _read(repository, {sha for new, olds in sources.items() for sha in (new, *olds)})
    left: list[Commit] = []
    settled: set[str] = set()
    for new, names in sources.items():
        olds = [commits[name] for name in names if name in commits]
        if new not in commits or len(olds) < len(names):
            continue
        settled.add(new)
        if len(olds) > 1:
            left += _news_of_squash(commits[new], olds, seen)
        elif _replace_candidates(project, olds[0], commits[new]):
            left.append(commits[new])
    return left, settled


def _read(repository: Repository, shas: AbstractSet[str]) -> dict[str, Commit]:
    from memx.app.distil import CONFIG_PATHSPECS
    from memx.errors import GitError
    from memx.repo.history import read_commits

    try:
        read = read_commits(
            repository, sorted(shas), no_walk=True, files=True, diffs=True, paths=CONFIG_PATHSPECS
        )
        return {commit.sha: commit for commit in read}
    except GitError:
        return {}  # an old commit that is gone: the new ones are read like any other


def _news_of_squash(new: Commit, olds: Sequence[Commit], seen: AbstractSet[str]) -> list[Commit]:
    """Return the old commits that nobody distilled yet, as far as the new one keeps them, and what it adds."""
    from memx.repo.squash import paragraphs

    said = [set(paragraphs(old.message)) for old in olds]
    kept = paragraphs(new.message)
    news = [
        replace(old, sha=new.sha)
        for old, texts in zip(olds, said, strict=True)
        if old.sha not in seen and not texts.isdisjoint(kept)
    ]
    added = [text for text in kept if not any(text in texts for texts in said)]
    return [*news, replace(new, message="\n\n".join(added))] if added else news


def _replace_candidates(project: Project, old: Commit, new: Commit) -> bool:
    """Let the new commit's candidates take the place of the old one's; True when the new one is to be distilled."""
    from memx.app.distil import settled_ids
    from memx.repo.squash import paragraphs

    before, after = _candidates(project, old), _candidates(project, new)
    gone = before.keys() - after.keys()
    if not gone or not after.keys() - before.keys():
        return True  # nothing changed, or something was only added or only taken away
    waiting = {candidate.id: candidate for candidate in project.inbox.all()}
    pending = gone & waiting.keys()
    if pending:
        project.inbox.remove_all(pending)
        return True
    settled = settled_ids(project, gone)
    if set(paragraphs(new.message)[1:]) - set(paragraphs(old.message)) or not settled:
        return True
    # What the old commit taught was decided, and so is what only another subject made of it.
    decision = project.inbox.decided().get(min(settled), "accepted")
    for key in after.keys() - before.keys():
        if key not in waiting or waiting[key].source == f"commit {new.sha}":
            project.inbox.decide(key, decision)
    return False


def _candidates(project: Project, commit: Commit) -> dict[str, Candidate]:
    from memx.repo.squash import split_squash

    found = (project.reflector.commit(part).candidates for part in split_squash(commit))
    return {candidate.id: candidate for candidates in found for candidate in candidates}
