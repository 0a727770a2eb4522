"""Whatever happens in whatever order, each recall counts once and no count shrinks."""

from __future__ import annotations

import os
import shutil
import tempfile

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memx.store.journal import Journal

IDS = ("a123456789", "b123456789")
BRANCHES = ("main", "feature", "release")


class JournalStates(RuleBasedStateMachine):
    """Several processes and branches of one clone.

    A branch's file holds the sum of the folds that its history contains, which
    is what the merge driver makes of it: a merge is the union of both histories.
    """

    @initialize()
    def begin(self) -> None:
        """One empty journal, three branches without folds."""
        self.folder = tempfile.mkdtemp()
        self.processes = [Journal(self.folder) for _ in range(3)]
        self.truth = dict.fromkeys(IDS, 0)
        self.histories: dict[str, dict[int, tuple[str, int]]] = {branch: {} for branch in BRANCHES}
        self.branch = "main"
        self.hour = 0
        self.folds = 0
        self.is_unsettled = False

    def teardown(self) -> None:
        """Remove the journal."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def files(self) -> dict[str, int]:
        """Return the counts in the files of the branch that is checked out."""
        history = self.histories[self.branch].values()
        return {name: sum(count for other, count in history if other == name) for name in IDS}

    def fold(self, process: int, *, is_written: bool) -> None:
        """Fold, and put what comes out into the branch's history if the files are written."""
        before = self.files()
        for name, recalls in self.processes[process].fold(before).items():
            assert recalls.count > before[name]
            if is_written:
                self.folds += 1
                self.histories[self.branch][self.folds] = (name, recalls.count - before[name])

    @rule(process=st.integers(0, 2), names=st.lists(st.sampled_from(IDS), min_size=1, unique=True))
    def recall(self, process: int, names: list[str]) -> None:
        """A search by any process, two hours after the last."""
        self.hour += 2
        assert self.processes[process].record(names, self.hour * 3600, 60)
        for name in names:
            self.truth[name] += 1

    @rule(process=st.integers(0, 2), name=st.sampled_from(IDS))
    def recall_again(self, process: int, name: str) -> None:
        """A repeat within the hour does not count, whichever process it comes from."""
        self.recall(process, [name])
        self.processes[process - 1].record([name], self.hour * 3600 + 1800, 60)

    @rule(process=st.integers(0, 2))
    def fold_whole(self, process: int) -> None:
        """A fold that comes to its end."""
        self.fold(process, is_written=True)
        self.processes[process].settle(IDS)
        self.is_unsettled = False

    @rule(process=st.integers(0, 2))
    def fold_killed_before_writing(self, process: int) -> None:
        """The journal knows, the files do not."""
        self.fold(process, is_written=False)

    @rule(process=st.integers(0, 2))
    def fold_killed_after_writing(self, process: int) -> None:
        """The files are written, the journal does not know that."""
        self.fold(process, is_written=True)
        self.is_unsettled = True

    @rule()
    def writer_killed(self) -> None:
        """A recall that was never acknowledged leaves half a line."""
        with open(os.path.join(self.folder, "journal"), "ab") as file:
            file.write(b"r 99999999 3600 a12345")

    @rule(process=st.integers(0, 2))
    def compact(self, process: int) -> None:
        """The file grew large and was summed up."""
        self.processes[process].compact()

    @precondition(lambda self: not self.is_unsettled)
    @rule(branch=st.sampled_from(BRANCHES))
    def switch(self, branch: str) -> None:
        """Check out another branch."""
        self.branch = branch

    @precondition(lambda self: not self.is_unsettled)
    @rule(branch=st.sampled_from(BRANCHES))
    def merge(self, branch: str) -> None:
        """Merge a branch into the one that is checked out."""
        self.histories[self.branch] |= self.histories[branch]

    @invariant()
    def every_recall_counts_once(self) -> None:
        """The effective count is the number of recalls, for every process, on every branch."""
        if not hasattr(self, "truth"):
            return
        files = self.files()
        assert all(files[name] <= self.truth[name] for name in IDS)
        for process in self.processes:
            assert process.effective(files) == self.truth


TestJournalStates = JournalStates.TestCase
TestJournalStates.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
