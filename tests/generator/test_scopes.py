"""The visibility table: viewer by bullet."""

from __future__ import annotations

import pytest

from memx.config import GeneratorConfig
from memx.generator.scopes import Viewer, is_visible, scope_boost, viewer_of, workspace_name

GLOBAL = Viewer("global")
PROJECT = Viewer("project", "shop")
WORKSPACE = Viewer("workspace", "shop", "feat-auth")
BULLETS = ("global", "project", "project:shop", "project:other", "workspace:feat-auth", "workspace:feat-pay")


@pytest.mark.parametrize(
    ("viewer", "visible"),
    [
        (GLOBAL, {"global"}),
        (PROJECT, {"global", "project", "project:shop"}),
        (WORKSPACE, {"global", "project", "project:shop", "workspace:feat-auth"}),
    ],
    ids=["global", "project", "workspace"],
)
def test_upper_scopes_are_visible_and_siblings_are_not(viewer: Viewer, visible: set[str]) -> None:
    """A lower scope sees the upper ones; siblings and lower ones stay hidden."""
    assert {scope for scope in BULLETS if is_visible(scope, viewer)} == visible


def test_bullets_of_a_branch_that_is_gone_are_the_projects() -> None:
    """When the living workspaces are known, a dead one's bullets are seen by the project."""
    viewer = Viewer("project", "shop", "", frozenset(("main", "feat-pay")))
    assert is_visible("workspace:feat-auth", viewer)
    assert not is_visible("workspace:feat-pay", viewer)
    assert not is_visible("workspace:feat-auth", Viewer("global", living_workspaces=frozenset()))


def test_boost_is_for_the_current_scope_only() -> None:
    """This project and this workspace get 1.3, global bullets 1.0."""
    config = GeneratorConfig()
    assert [scope_boost(scope, WORKSPACE, config) for scope in BULLETS[:2]] == [1.0, 1.3]
    assert scope_boost("workspace:feat-auth", WORKSPACE, config) == 1.3


@pytest.mark.parametrize("scope", ["", "Project", "workspace:", "team", "project:"])
def test_scope_of_another_form_is_refused(scope: str) -> None:
    """Only the three documented forms are scopes."""
    with pytest.raises(ValueError, match="neither"):
        viewer_of(scope, PROJECT)


def test_sibling_project_sees_what_is_global_or_its_own() -> None:
    """Looking from another project hides `project`, and gives no boost, in a store that serves several."""
    other = viewer_of("project:other", PROJECT)
    assert {scope for scope in BULLETS if is_visible(scope, other)} == {"global", "project:other"}
    assert scope_boost("project", other, GeneratorConfig()) == 1.0
    gone = Viewer("project", "shop", "", frozenset())
    assert not is_visible("workspace:feat-auth", viewer_of("project:other", gone))
    own = viewer_of("project:shop", PROJECT)
    assert {scope for scope in BULLETS if is_visible(scope, own)} == {"global", "project", "project:shop"}


@pytest.mark.parametrize(
    "name", ["feat-auth", "feat/auth", "a", "v1.2", "汉字", "feat.x", "a@b", "-lock.d/x"[1:]]
)
def test_workspace_is_named_with_and_without_its_kind(name: str) -> None:
    """What git lets a branch be called, as such or as the scope."""
    assert workspace_name(name) == workspace_name(f"workspace:{name}") == name
    assert viewer_of(f"workspace:{name}", PROJECT).workspace == name


@pytest.mark.parametrize(
    "name",
    [
        *("../x", "a b", "feat..x", "", "workspace:", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a."),
        *("a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "@", "a@{b", "-a", "a\tb", "a\x7fb"),
    ],
)
def test_name_that_no_branch_could_have_is_refused(name: str) -> None:
    """As a workspace and in a scope."""
    with pytest.raises(ValueError, match=r"workspace"):
        workspace_name(name)
    with pytest.raises(ValueError, match=r"workspace"):
        viewer_of(f"workspace:{name}" if not name.startswith("workspace:") else name, PROJECT)


def test_scope_flag_names_the_viewer() -> None:
    """`--scope` looks from that place."""
    assert viewer_of("workspace:feat-pay", PROJECT).workspace == "feat-pay"
    assert viewer_of("project", WORKSPACE).workspace == ""
    assert viewer_of("global", WORKSPACE).level == "global"
