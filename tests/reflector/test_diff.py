"""Evidence from a commit's diff."""

from __future__ import annotations

from memx.model import Commit, FileChange
from memx.reflector.diff import added_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector import Reflector

POOL = FileChange("config/pool.yml", removed=("  max_pool_size: 10",), added=("  max_pool_size: 50",))


def test_changed_setting_that_the_message_names_is_a_lesson(reflector: Reflector) -> None:
    """The diff gives both values where the message gives none."""
    commit = Commit("a" * 40, "Raise the pool size, Redis timed out under load", files=(POOL,))
    (found,) = reflector.commit(commit).candidates
    assert (found.rule, found.confidence) == ("config_change", 0.6)
    assert "`max_pool_size` in pool.yml was changed from 10 to 50." in found.text


def test_changed_setting_by_the_way_gives_nothing(reflector: Reflector) -> None:
    """A value that the message does not speak of teaches nothing."""
    assert reflector.commit(Commit("a" * 40, "Add a page for invoices", files=(POOL,))).candidates == ()


def test_package_in_a_manifest_that_the_message_names_is_a_new_tool(reflector: Reflector) -> None:
    """A dependency that was not there before and is spoken of was taken into use."""
    manifest = FileChange("package.json", added=('    "squawk-cli": "^2.1.0",',))
    commit = Commit("a" * 40, "Lint migrations with squawk-cli to catch long locks in CI", files=(manifest,))
    assert [c.rule for c in reflector.commit(commit).candidates] == ["new_tool"]


def test_bumped_package_is_not_new() -> None:
    """A package that stood in the removed lines was there before."""
    bump = FileChange("requirements.txt", removed=("httpx==0.27",), added=("httpx==0.28", "respx==0.21"))
    assert added_tools([bump]) == ("respx",)
