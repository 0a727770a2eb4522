"""A clone that a history drives: memx in process, git as git, and what must hold after each step."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from memx.app.add import Draft, complete
from memx.app.project import Project
from memx.app.resolve import split_sides
from memx.document import marker_size
from memx.merge import merge_bullets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.model import StoredBullet

TOKEN = re.compile(r"tok\d+x")
Counters = dict[str, int]


class Truth:
    """What all clones together know: texts that were committed or deliberately taken away, counters by commit."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.committed: set[str] = set()
        self.gone: set[str] = set()
        # Its copy on a branch that had archived it before may outlive the one with the recalls.
        self.removed: set[str] = set()
        self.counters: dict[str, Counters] = {}
        self.clock = 1_700_000_000
        self.tokens = 0
        self.conflicts = 0
        self.log: list[str] = []

    def token(self) -> str:
        """Return a word that no text holds yet."""
        self.tokens += 1
        return f"tok{self.tokens}x"

    def tick(self) -> int:
        """Return the next second."""
        self.clock += 61
        return self.clock


class Clone:
    """One worktree with its own state folder; every method leaves the checks of its result to `check`."""

    def __init__(self, path: str, name: str, truth: Truth) -> None:
        """Wrap an existing clone."""
        self.path = path
        self.name = name
        self.truth = truth
        self.project = Project(path, os.environ, truth.clock)
        self.branches = 0

    # --- git

    def git(self, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run git here with a clock of the history's own."""
        stamp = f"{self.truth.tick()} +0000"
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=os.environ | {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, "GIT_EDITOR": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="surrogateescape",
        )
        self.truth.log.append(f"{self.name}: git {' '.join(args)} -> {done.returncode}")
        assert not check or not done.returncode, self.story(done.stdout + done.stderr)
        return done

    def story(self, what: str) -> str:
        """Return what went wrong and how it came to that."""
        return "\n".join([what, *self.truth.log])

    def tips(self) -> list[str]:
        """Return every branch here and on the remote but the one that is checked out."""
        shape = "--format=%(HEAD)%(refname:short)"
        lines = self.git("for-each-ref", shape, "refs/heads", "refs/remotes").stdout.splitlines()
        return [line[1:] for line in lines if line[0] != "*" and line[1:] not in ("origin", "origin/HEAD")]

    def head(self) -> str:
        """Return the commit that is checked out."""
        return self.git("rev-parse", "HEAD").stdout.strip()

    def is_dirty(self) -> bool:
        """Say whether something is not committed."""
        return bool(self.git("status", "--porcelain").stdout)

    def commit(self) -> None:
        """Commit everything, if there is anything."""
        if self.is_dirty():
            self.git("add", "-A")
            self.git("commit", "-q", "-m", "Change")
        self.seen()

    def seen(self) -> None:
        """Remember what the commit that is checked out holds."""
        self.truth.committed |= self.tokens()
        self.truth.counters[self.head()] = self.counters()

    # --- the store

    def bullets(self) -> list[StoredBullet]:
        """Return live and archived bullets by path; the store must be readable."""
        store = self.project.store
        found, problems = store.scan()
        archived, more = store.scan(archived=True)
        broken = [p for p in (*problems, *more) if p.kind in ("front-matter", "conflict-marker", "")]
        assert not broken, self.story(f"{self.name}: {broken}")
        return sorted((*found, *archived), key=lambda stored: stored.path)

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the text of every bullet's file, parsed or not."""
        for folder, _, names in os.walk(os.path.join(self.path, ".memx")):
            for name in names:
                if name.endswith(".md") and name != "README.md":
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as stream:
                        yield os.path.relpath(path, self.path), stream.read()

    def tokens(self) -> set[str]:
        """Return the words that mark a text, in whatever file."""
        return {token for _, text in self.files() for token in TOKEN.findall(text)}

    def counters(self) -> Counters:
        """Return the count in the file by id."""
        counters: Counters = {}
        for stored in self.bullets():
            bullet = stored.bullet
            counters[bullet.id] = max(bullet.recall_count, counters.get(bullet.id, 0))
        return counters

    def choose(self, number: int, *, archived: bool = False) -> StoredBullet | None:
        """Return one of the bullets, None when there is none."""
        found = [stored for stored in self.bullets() if stored.archived == archived]
        return found[number % len(found)] if found else None

    def add(self, text: str, section: str) -> None:
        """Add a bullet as `memx add` completes it; what it is compared with is no matter of git."""
        self.project.now = self.truth.tick()
        self.project.store.add(complete(self.project, Draft(text, section=section, source="hand")))

    def edit(self, stored: StoredBullet, text: str) -> None:
        """Give a bullet another text."""
        self.project.now = self.truth.tick()
        self.truth.gone |= set(TOKEN.findall(stored.bullet.text)) - set(TOKEN.findall(text))
        self.project.store.edit(stored.path, {"text": text})

    def remove(self, stored: StoredBullet) -> None:
        """Take a bullet away."""
        self.truth.gone |= set(TOKEN.findall(stored.bullet.text))
        self.truth.removed.add(stored.bullet.id)
        self.project.store.remove(stored.path)

    # --- joining

    def join(self, *command: str, sides: tuple[str, ...], going: str = "") -> None:
        """Run a git command that merges, resolve as often as it stops, and check the result.

        `sides`: the commits of which no counter may shrink. `going`: the command that has
        `--continue` and `--skip`; without it a conflict ends with a commit.
        """
        floors = [self.truth.counters[side] for side in sides if side in self.truth.counters]
        done = self.git(*command, check=False)
        while done.returncode:
            if not self.resolve():
                assert going, self.story(done.stdout + done.stderr)
                if "nothing to commit" not in done.stdout and "--skip" not in done.stdout + done.stderr:
                    raise AssertionError(self.story(done.stdout + done.stderr))
                done = self.git(going, "--skip", check=False)
            elif going:
                done = self.git(going, "--continue", check=False)
            else:
                done = self.git("commit", "-q", "-m", "Merge", "--allow-empty", check=False)
        self.check(floors)

    def resolve(self) -> bool:
        """Resolve what git left unmerged by keeping both sides; False when nothing is."""
        stages: dict[str, dict[int, str]] = {}
        for line in self.git("ls-files", "--unmerged", "-z").stdout.split("\0"):
            if line:
                meta, path = line.split("\t")
                stages.setdefault(path, {})[int(meta.split()[2])] = meta.split()[1]
        if not stages:
            return False
        self.truth.conflicts += 1
        here = self.tokens()
        for path, blobs in sorted(stages.items()):
            sides = {stage: self.git("cat-file", "blob", blob).stdout for stage, blob in blobs.items()}
            wanted = {token for stage in (2, 3) for token in TOKEN.findall(sides.get(stage, ""))}
            lost = wanted - self.truth.gone - here
            assert not lost, self.story(f"{self.name}: a conflict in {path} hides {lost}")
            self.keep_both(path, sides)
        self.git("add", "-A")
        return True

    def keep_both(self, path: str, sides: dict[int, str]) -> None:
        """Write what a patient person would: both texts, the fields merged; of a removed file what was changed."""
        if not sides.keys() & {2, 3}:
            return
        ours, theirs = (without_markers(sides.get(stage, sides.get(5 - stage, ""))) for stage in (2, 3))
        kept = both(sides.get(1, ""), ours, theirs)
        full = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as stream:
            stream.write(kept)

    def check(self, floors: list[Counters]) -> None:
        """Hold the result of a merge against its sides, and remember it."""
        for path, text in self.files():
            assert not any(marker_size(line, "<") for line in text.splitlines()), self.story(path)
        counters = self.counters()
        for floor in floors:
            for identifier in floor.keys() - self.truth.removed:
                count = floor[identifier]
                now = counters.get(identifier, count)
                assert now >= count, self.story(f"{self.name}: {identifier} shrank from {count} to {now}")
        self.seen()


def without_markers(text: str) -> str:
    """Return a blob, or both sides of it where git staged its own merge, markers and all: of a file moved twice."""
    parts = split_sides(text)
    return text if parts is None else without_markers(both(*(part.decode() for part in parts)))


def both(base: str, ours: str, theirs: str) -> str:
    """Return what the driver makes of three texts, with both sides of what it left to choose."""
    merged = merge_bullets(base.encode(), ours.encode(), theirs.encode()).data.decode()
    lines = merged.splitlines(keepends=True)
    return "".join(line for line in lines if not any(marker_size(line, sign) for sign in "<|=>"))
