"""`memx doctor` names what is broken, and the command that mends it."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from memx.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program


def failed(store: Program) -> dict[str, tuple[str, str]]:
    """Return detail and hint of each check that failed, by its name."""
    done = store.run("doctor", "--json")
    checks = json.loads(done.stdout)["checks"]
    found = {check["name"]: (check["detail"], check["hint"]) for check in checks if not check["ok"]}
    assert done.returncode == (1 if found else 0)
    return found


def test_whole_installation_passes(store: Program) -> None:
    """After init and with hooks nothing is wrong."""
    store.ok("hooks", "install")
    assert failed(store) == {}


def test_hooks_without_their_interpreter_are_reported(store: Program) -> None:
    """An environment that was removed leaves hooks that start nothing; installing them again mends it."""
    store.ok("hooks", "install")
    hook = store.folder / ".git" / "hooks" / "post-commit"
    lines = [
        "python='/nowhere/python'" if line.startswith("python='") else line
        for line in hook.read_text().split("\n")
    ]
    hook.write_text("\n".join(lines))
    detail, hint = failed(store)["hooks"]
    assert "/nowhere/python is gone" in detail
    assert hint == "memx hooks install"
    store.ok("hooks", "install")
    assert failed(store) == {}


@pytest.mark.parametrize("damage", ["unset", "script", "interpreter"])
def test_merge_driver_that_cannot_run_is_reported(damage: str, store: Program) -> None:
    """Without a driver git merges bullets as lines and nobody notices; init mends it."""
    store.ok("hooks", "install")
    if damage == "unset":
        store.git("config", "--unset", "merge.memx.driver")
    else:
        command = store.git("config", "merge.memx.driver").strip()
        old = "merge_driver.py" if damage == "script" else "bin/python"
        store.git("config", "merge.memx.driver", command.replace(old, f"gone/{old}"))
    detail, hint = failed(store)["merge driver"]
    assert ("is not set" if damage == "unset" else "gone/") in detail
    assert hint == "memx init"
    store.ok("init")
    assert failed(store) == {}


@pytest.mark.parametrize("name", ["tokenizer.json", "calibration.txt", "manifest.txt", "model.safetensors"])
def test_damaged_model_of_ones_own_is_reported(name: str, store: Program, tmp_path: Path) -> None:
    """Its hashes are measured as they are, so its files are read."""
    store.ok("hooks", "install")
    folder = tmp_path / "model"
    shutil.copytree(resource("model"), folder)
    store.ok("config", "set", "embedding.model", str(folder))
    store.ok("trust", "--yes")
    assert "model" not in failed(store)
    size = os.stat(folder / name).st_size
    (folder / name).write_bytes(b"damaged".ljust(size, b" "))
    detail, hint = failed(store)["model"]
    assert str(folder) in detail
    assert "memx config set embedding.model bundled" in hint
