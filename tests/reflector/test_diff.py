"""Evidence from a commit's diff."""

from __future__ import annotations

import pytest

from memx.model import Commit, FileChange
from memx.reflector.diff import added_tools
from memx.reflector.settings import changed_settings

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


@pytest.mark.parametrize(
    "path",
    [
        "memx/reflector/coefficients.json",
        "data/prices.yml",
        "tests/fixtures/pool.yml",
        "package-lock.json",
        "src/locales/de.json",
        "results/run.json",
    ],
)
def test_changed_number_in_a_data_file_is_no_setting(reflector: Reflector, path: str) -> None:
    """Coefficients, fixtures, dumps and lock files hold numbers, not settings."""
    change = FileChange(path, removed=('  "weight": 0.31,',), added=('  "weight": 0.29,',))
    found = reflector.commit(Commit("a" * 40, "Fit the weight anew", files=(change,))).candidates
    assert not any(candidate.rule == "config_change" for candidate in found)


def test_key_that_changes_to_several_values_is_no_setting() -> None:
    """A key that stands in a diff with many values belongs to a list of like things."""
    removed = [f"  weight: 0.{n}" for n in range(3)]
    added = [f"  weight: 0.{n}" for n in range(4, 7)]
    assert changed_settings("config/pool.yml", removed, added) == ()


def test_same_value_for_two_environments_is_one_setting() -> None:
    """A value that is raised in two blocks alike is still a setting."""
    (found,) = changed_settings("config/pool.yml", ["  size: 10", "  size: 10"], ["  size: 50", "  size: 50"])
    assert (found.key, found.old, found.new) == ("size", "10", "50")


@pytest.mark.parametrize(
    "path", ["appsettings.json", "config/app.config.json", ".eslintrc.json", "tsconfig.json"]
)
def test_json_whose_name_says_so_holds_settings(path: str) -> None:
    """JSON of settings is told from data by its name."""
    assert len(changed_settings(path, ['"poolSize": 10,'], ['"poolSize": 50,'])) == 1
