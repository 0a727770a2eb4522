"""Random histories of clones: whatever git does, no text is lost and all clones see the same store."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from memx.app.forget import archive, fold, restore
from memx.app.initialise import copy_template
from memx.repo.merge_driver import driver_options
from tests.git_state.clone import Clone, Truth
from tests.support.git_repo import create_repository

if TYPE_CHECKING:
    from pathlib import Path


HISTORIES = int(os.environ.get("MEMX_HISTORIES", "0"))
SEED = int(os.environ.get("MEMX_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
CI_HISTORIES, STEPS = 8, 25
NAMES = ("ann", "bob", "eve")
_SETTINGS = {
    "gc.auto": "0",
    "core.fsync": "none",
    "core.hooksPath": os.devnull,
    "advice.skippedCherryPicks": "false",
    "merge.conflictStyle": "merge",
}
CLONES, NUMBERS = st.integers(0, 2), st.integers(0, 5)
CHANGES = st.lists(
    st.sampled_from(
        ("all", "append", "first", "tags", "recall", "add", "archive", "remove", "move", "restore")
    ),
    min_size=1,
    max_size=3,
)
SECTIONS = st.sampled_from(("debugging", "tools"))


def build_world(root: Path) -> None:
    """Make a bare repository and its clones, with four bullets: copied for each history."""
    first = create_repository(root / NAMES[0])
    copy_template(str(first.path / ".memx"))
    for name, value in _SETTINGS.items():
        first.git("config", name, value)
    clone = Clone(str(first.path), NAMES[0], Truth())
    for number in range(4):
        clone.add(f"Seed {number}\nfirst line\nlast line\n", ("debugging", "tools")[number % 2])
    clone.commit()
    first.git("clone", "-q", "--bare", ".", "../origin")
    for name in NAMES:
        if name != NAMES[0]:
            first.git("clone", "-q", "../origin", f"../{name}")
        config = ["-C", f"../{name}", "config"]
        for key, value in {**_SETTINGS, "remote.origin.url": "../origin"}.items():
            first.git(*config, key, value)
        first.git(*config, "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
        first.git("-C", f"../{name}", "fetch", "-q")
    for hooks in root.glob("**/hooks"):
        shutil.rmtree(hooks)


class Histories(RuleBasedStateMachine):
    """Clones that add, edit, forget, branch and join at random."""

    world = ""
    tally: ClassVar[Counter[str]] = Counter()
    """What all histories together went through."""

    def __init__(self) -> None:
        """Copy the world."""
        super().__init__()
        self.folder = tempfile.mkdtemp(dir=os.path.dirname(self.world))
        self.truth = Truth()
        shutil.copytree(self.world, self.folder, dirs_exist_ok=True, symlinks=True)
        self.clones: list[Clone] = []

    @initialize(count=st.integers(2, 3), drivers=st.sampled_from(((), (0,), (0, 1, 2))))
    def start(self, count: int, drivers: tuple[int, ...]) -> None:
        """Open two or three clones, none, one or all of them with the merge driver."""
        self.truth.log.append(f"clones {count}, drivers {drivers}")
        for index, name in enumerate(NAMES[:count]):
            clone = Clone(os.path.join(self.folder, name), name, self.truth)
            if index in drivers:
                for key, value in driver_options(sys.executable).items():
                    clone.git("config", key, value)
            clone.seen()
            self.clones.append(clone)

    def at(self, index: int) -> Clone:
        """Return a clone."""
        return self.clones[index % len(self.clones)]

    def note(self, clone: Clone, what: object) -> None:
        """Write the step down."""
        self.truth.log.append(f"{clone.name}: {what}")

    @rule(index=CLONES, section=SECTIONS, lines=st.integers(1, 3))
    def add(self, index: int, section: str, lines: int) -> None:
        """Add a bullet."""
        clone = self.at(index)
        text = "\n".join(f"Lesson {self.truth.token()} holds" for _ in range(lines))
        self.note(clone, f"add {text!r}")
        clone.add(text, section)

    @rule(index=CLONES, number=NUMBERS, section=SECTIONS)
    def add_known(self, index: int, number: int, section: str) -> None:
        """Add what other clones may add as well."""
        clone = self.at(index)
        self.note(clone, f"add known {number}")
        clone.add(f"Known tok{9000 + number}x\nby all", section)

    @rule(index=CLONES, number=NUMBERS, how=st.sampled_from(("all", "append", "first")))
    def edit_text(self, index: int, number: int, how: str) -> None:
        """Rewrite a text, or a line of it."""
        clone = self.at(index)
        stored = clone.choose(number)
        if stored is not None:
            old, new = stored.bullet.text, f"Edited {self.truth.token()} now"
            first, _, rest = old.partition("\n")
            text = {"all": new, "append": f"{old.rstrip()}\n{new}\n", "first": f"{new}\n{rest}"}[how]
            self.note(clone, f"edit {how} {stored.path} {new}")
            clone.edit(stored, text if how != "first" or first else new)

    @rule(index=CLONES, number=NUMBERS, tags=st.sets(st.sampled_from("abcd"), max_size=3))
    def edit_tags(self, index: int, number: int, tags: set[str]) -> None:
        """Change the tags."""
        clone = self.at(index)
        stored = clone.choose(number)
        if stored is not None:
            self.note(clone, f"tags {stored.path} {sorted(tags)}")
            clone.project.store.edit(stored.path, {"tags": tuple(sorted(tags))})

    @rule(index=CLONES, number=NUMBERS, times=st.integers(1, 3), folds=st.booleans())
    def recall(self, index: int, number: int, times: int, *, folds: bool) -> None:
        """Recall a bullet, and perhaps fold what is pending."""
        clone = self.at(index)
        stored = clone.choose(number)
        if stored is not None:
            self.note(clone, f"recall {stored.path} {times} {folds}")
            for _ in range(times):
                clone.project.journal.record([stored.bullet.id], self.truth.tick(), 0)
            if folds:
                fold(clone.project)

    @rule(index=CLONES, number=NUMBERS, how=st.sampled_from(("archive", "restore", "remove", "move")))
    def relocate(self, index: int, number: int, how: str) -> None:
        """Archive, bring back, take away, or move to another section."""
        clone = self.at(index)
        stored = clone.choose(number, archived=how == "restore")
        if stored is None:
            return
        self.note(clone, f"{how} {stored.path}")
        taken = {other.path for other in clone.bullets()}
        name = stored.path.rpartition("/")[2]
        if how == "archive" and f"archive/{stored.bullet.section}/{name}" not in taken:
            archive(clone.project, [stored.path])
        elif how == "restore" and f"bullets/{stored.bullet.section}/{name}" not in taken:
            restore(clone.project, stored.path)
        elif how == "move" and f"bullets/tools/{name}" not in taken:
            clone.project.store.move(stored.path, "tools")
        elif how == "remove":
            clone.remove(stored)

    @rule(index=CLONES)
    def commit(self, index: int) -> None:
        """Commit."""
        self.at(index).commit()

    @rule(index=CLONES, number=NUMBERS, new=st.booleans())
    def switch(self, index: int, number: int, *, new: bool) -> None:
        """Begin a branch, or go to another one."""
        clone = self.at(index)
        clone.commit()
        if new:
            clone.branches += 1
            clone.git("switch", "-q", "-c", f"{clone.name}-{clone.branches}")
            return
        mine = [tip for tip in clone.tips() if "/" not in tip]
        if mine:
            clone.git("switch", "-q", mine[number % len(mine)])

    @rule(index=CLONES, number=NUMBERS, how=st.sampled_from(("--no-ff", "--ff", "--squash")))
    def merge(self, index: int, number: int, how: str) -> None:
        """Merge another branch."""
        clone = self.at(index)
        clone.commit()
        tip = self.other(clone, number)
        if tip:
            sides = (clone.head(), clone.git("rev-parse", tip).stdout.strip())
            clone.join("merge", "-q", "--no-edit", how, tip, sides=sides)
            clone.commit()

    @rule(index=CLONES, number=NUMBERS, backend=st.sampled_from(("--merge", "--apply")))
    def rebase(self, index: int, number: int, backend: str) -> None:
        """Replay a branch of one's own on another one."""
        clone = self.at(index)
        clone.commit()
        tip = self.other(clone, number)
        if tip and clone.git("branch", "--show-current").stdout.strip() != "main":
            sides = (clone.head(), clone.git("rev-parse", tip).stdout.strip())
            clone.join("rebase", "-q", backend, tip, sides=sides, going="rebase")

    @rule(index=CLONES, number=NUMBERS)
    def cherry_pick(self, index: int, number: int) -> None:
        """Take over the last commit of another branch."""
        clone = self.at(index)
        clone.commit()
        tip = self.other(clone, number)
        if tip and len(clone.git("rev-list", "--no-walk", "--parents", tip).stdout.split()) == 2:
            clone.join("cherry-pick", tip, sides=(clone.head(),), going="cherry-pick")

    @rule(index=CLONES, number=NUMBERS)
    def stash(self, index: int, number: int) -> None:
        """Carry uncommitted work to another branch."""
        clone = self.at(index)
        mine = [tip for tip in clone.tips() if "/" not in tip]
        if mine and clone.is_dirty():
            clone.git("stash", "push", "-q", "--include-untracked")
            clone.git("switch", "-q", mine[number % len(mine)])
            clone.truth.counters.setdefault(clone.head(), clone.counters())
            clone.join("stash", "pop", sides=(clone.head(),))

    @rule(index=CLONES)
    def push(self, index: int) -> None:
        """Publish; a branch that others have moved is refused."""
        clone = self.at(index)
        clone.git("push", "-q", "origin", "HEAD", check=False)

    @rule(index=CLONES, rebases=st.booleans())
    def pull(self, index: int, *, rebases: bool) -> None:
        """Take over what others published."""
        clone = self.at(index)
        clone.commit()
        clone.git("fetch", "-q")
        tip = clone.git("rev-parse", "origin/main").stdout.strip()
        if clone.git("branch", "--show-current").stdout.strip() == "main":
            command = ("rebase", "-q", tip) if rebases else ("merge", "-q", "--no-edit", tip)
            clone.join(*command, sides=(clone.head(), tip), going="rebase" if rebases else "")

    @rule(
        index=CLONES,
        number=NUMBERS,
        here=CHANGES,
        there=CHANGES,
        how=st.sampled_from(("merge", "squash", "rebase", "apply", "pick")),
    )
    def part(self, index: int, number: int, here: list[str], there: list[str], how: str) -> None:
        """Change the same bullets on two branches at once, and join them."""
        clone = self.at(index)
        clone.commit()
        start = clone.git("branch", "--show-current").stdout.strip()
        clone.branches += 1
        other = f"{clone.name}-{clone.branches}"
        clone.git("switch", "-q", "-c", other)
        self.change(index, number, there)
        clone.git("switch", "-q", start)
        self.change(index, number, here)
        sides = (clone.head(), clone.git("rev-parse", other).stdout.strip())
        if how in ("rebase", "apply"):
            clone.git("switch", "-q", other)
            backend = "--apply" if how == "apply" else "--merge"
            clone.join("rebase", "-q", backend, start, sides=sides, going="rebase")
        elif how == "pick":
            if sides[0] != sides[1] and clone.git("rev-list", f"{start}..{other}").stdout:
                clone.join("cherry-pick", other, sides=sides[:1], going="cherry-pick")
        else:
            clone.join("merge", "-q", "--squash" if how == "squash" else "--no-ff", other, sides=sides)
            clone.commit()

    def change(self, index: int, number: int, kinds: list[str]) -> None:
        """Do these things to a bullet and commit."""
        for kind in kinds:
            if kind in ("all", "append", "first"):
                self.edit_text(index, number, kind)
            elif kind in ("archive", "remove", "move", "restore"):
                self.relocate(index, number, kind)
            elif kind == "tags":
                self.edit_tags(index, number, {"abcd"[self.truth.tokens % 4], "e"})
            elif kind == "recall":
                self.recall(index, number, 1 + self.truth.tokens % 3, folds=True)
            else:
                self.add(index, "debugging", 2)
        self.at(index).commit()

    def other(self, clone: Clone, number: int) -> str:
        """Return a branch to join with, '' when there is none."""
        tips = clone.tips()
        return tips[number % len(tips)] if tips else ""

    def teardown(self) -> None:
        """Bring every branch together, and hold all clones against each other."""
        try:
            if self.clones and sys.exc_info()[0] is None:
                self.unite()
        finally:
            shutil.rmtree(self.folder)

    def unite(self) -> None:
        """Merge all branches into `main`, and let every clone pull it."""
        words = (line.split(" ")[1:3] for line in self.truth.log)
        kinds = ("merge", "rebase", "cherry-pick", "stash", "push", "commit")
        self.tally.update(word for git, word in words if git == "git" and word in kinds)
        for clone in self.clones:
            clone.commit()
            clone.git("switch", "-q", "main")
            clone.git("fetch", "-q")
            for tip in clone.git("branch", "-a", "--format=%(refname)", "--no-merged", "HEAD").stdout.split():
                sides = (clone.head(), clone.git("rev-parse", tip).stdout.strip())
                clone.join("merge", "-q", "--no-edit", tip, sides=sides)
            clone.git("push", "-q", "origin", "main")
        lost = self.truth.committed - self.truth.gone - self.clones[-1].tokens()
        assert not lost, self.clones[-1].story(f"lost: {lost}")
        for clone in self.clones[:-1]:
            clone.git("pull", "-q", "--ff-only", "origin", "main")
        stores = [[(stored.path, stored.bullet) for stored in clone.bullets()] for clone in self.clones]
        assert all(store == stores[0] for store in stores), self.clones[0].story("the stores differ")
        assert not any(clone.is_dirty() for clone in self.clones), self.clones[0].story("dirty")
        self.tally.update({"histories": 1, "conflicts": self.truth.conflicts, "texts": self.truth.tokens})


@pytest.mark.timeout(0 if HISTORIES else 300)
def test_histories_keep_every_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No text is lost, no counter shrinks, every file parses, and clones agree, whatever git joined."""
    world = tmp_path / "world"
    build_world(world)
    Histories.world = str(world)
    how = settings(
        max_examples=HISTORIES or CI_HISTORIES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    with capsys.disabled():
        sys.stdout.write(f"\nMEMX_HISTORIES={HISTORIES or CI_HISTORIES} MEMX_SEED={SEED}\n")
        sys.stdout.flush()
        try:
            run_state_machine_as_test(seed(SEED)(Histories), settings=how, _min_steps=STEPS // 2)
        finally:
            told = ", ".join(f"{count} {word}" for word, count in sorted(Histories.tally.items()))
            sys.stdout.write(f"went through: {told}\n")
