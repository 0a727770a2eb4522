"""The embedded sample: a small repository with invented commits, built from data in one `git fast-import`."""

from __future__ import annotations

import json
import os

from memx.resources import resource

SAMPLE_SESSIONS = ("session-labels.jsonl", "session-build.jsonl")


def build_sample(folder: str, now: float) -> str:
    """Build the sample repository in an empty folder and return the path of its work tree."""
    from memx.repo.git import run_git

    with open(resource("demo/commits.json"), encoding="utf-8") as stream:
        commits = json.load(stream)
    repository = os.path.join(folder, "parcel-desk")
    os.makedirs(repository)
    run_git(["init", "--quiet", "--initial-branch=main"], cwd=repository)
    run_git(["fast-import", "--quiet"], cwd=repository, stdin=_stream(commits, now))
    run_git(["reset", "--quiet", "--hard"], cwd=repository)
    return repository


def _stream(commits: list[dict[str, object]], now: float) -> bytes:
    """Return the history in the format of git fast-import."""
    parts: list[bytes] = []
    for commit in commits:
        author = str(commit["author"])
        days = commit["days"]
        when = int(now) - (int(days) if isinstance(days, (int, str)) else 0) * 86400
        who = f"{author} <{author.lower()}@example.org> {when} +0000".encode()
        message = str(commit["message"]).encode()
        parts.append(b"commit refs/heads/main\nauthor %b\ncommitter %b\n" % (who, who))
        parts.append(b"data %d\n%b\n" % (len(message), message))
        files = commit["files"]
        for path, content in files.items() if isinstance(files, dict) else ():
            data = str(content).encode()
            parts.append(b"M 100644 inline %b\ndata %d\n%b\n" % (str(path).encode(), len(data), data))
    return b"".join(parts)
