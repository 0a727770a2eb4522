"""The sessions of one repository are found, those of its neighbours are not."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from memx.transcripts import discover_sessions
from memx.transcripts.discovery import claude_slug
from memx.transcripts.remote import normalize_remote, opencode_project
from tests.transcripts import samples

REMOTE = "https://git.example.org/Dev/Mill.git"


def put(path: Path, text: str, old: str = "/home/dev/mill", new: str = "") -> None:
    """Write a log, its working folder replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace(old, new or old))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a worktree root."""
    folder = tmp_path / "work" / "mill"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def home(tmp_path: Path, root: Path) -> Path:
    """Return a home folder with sessions of the repository, of a neighbour and of a clone."""
    home = tmp_path / "home"
    here, neighbour = str(root), f"{root}-two"
    projects = home / ".claude" / "projects"
    put(projects / claude_slug(here) / "a.jsonl", samples.claude_code(), new=here)
    put(projects / claude_slug(here) / "a" / "subagents" / "agent-1.jsonl", samples.claude_code(), new=here)
    put(projects / claude_slug(f"{here}/sub") / "b.jsonl", samples.claude_code(), new=f"{here}/sub")
    put(projects / claude_slug(neighbour) / "c.jsonl", samples.claude_code(), new=neighbour)
    put(projects / claude_slug(here) / "empty.jsonl", "")
    day = home / ".codex" / "sessions" / "2026" / "05" / "01"
    put(day / "rollout-1.jsonl", samples.codex(), new=here)
    put(day / "rollout-2.jsonl", samples.codex(), new="/another/clone")
    put(day / "rollout-3.jsonl", samples.codex().replace("mill.git", "other.git"), new="/another")
    chats = home / ".gemini" / "tmp" / sha256(here.encode()).hexdigest() / "chats"
    put(chats / "session-1.json", samples.gemini_json())
    put(home / ".gemini" / "tmp" / "other" / "chats" / "session-2.json", samples.gemini_json())
    put(home / ".copilot" / "session-state" / "u" / "events.jsonl", samples.copilot_cli(), new=here)
    share = home / ".local" / "share" / "opencode" / "storage" / "session"
    put(share / "p" / "ses_1.json", json.dumps(samples.OPENCODE_INFO), new=here)
    by_remote = {
        **samples.OPENCODE_INFO,
        "id": "ses_2",
        "projectID": opencode_project(REMOTE),
        "directory": "/x",
    }
    put(share / "q" / "ses_2.json", json.dumps(by_remote))
    tasks = home / ".config" / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev" / "tasks"
    put(tasks / "17" / "api_conversation_history.json", samples.cline(), new=here)
    put(tasks / "18" / "api_conversation_history.json", samples.cline())
    put(root / ".aider.chat.history.md", samples.aider())
    put(root / ".specstory" / "history" / "2026-05-01_10-00-x.md", samples.specstory())
    return home


def found(home: Path, root: Path, environ: dict[str, str] | None = None) -> set[tuple[str, str]]:
    """Return format and name of what is discovered."""
    sessions = discover_sessions(str(home), environ or {}, [str(root)], [REMOTE])
    return {(session.format, Path(session.path).name) for session in sessions}


def test_sessions_of_the_repository_are_found(home: Path, root: Path) -> None:
    """By folder, by remote and by place; neither a neighbour's nor an unreadable one."""
    assert found(home, root) == {
        ("claude_code", "a.jsonl"),
        ("claude_code", "agent-1.jsonl"),
        ("claude_code", "b.jsonl"),
        ("codex", "rollout-1.jsonl"),
        ("codex", "rollout-2.jsonl"),
        ("gemini", "session-1.json"),
        ("copilot_cli", "events.jsonl"),
        ("opencode", "ses_1.json"),
        ("opencode", "ses_2.json"),
        ("cline", "api_conversation_history.json"),
        ("aider", ".aider.chat.history.md"),
        ("specstory", "2026-05-01_10-00-x.md"),
    }


def test_the_latest_session_comes_first(home: Path, root: Path) -> None:
    """The first one is never a sub-agent's, however late that was written."""
    latest = root / ".specstory" / "history" / "2026-05-01_10-00-x.md"
    os.utime(latest, (3e9, 3e9))
    (sub_agent,) = home.rglob("agent-1.jsonl")
    os.utime(sub_agent, (4e9, 4e9))
    sessions = discover_sessions(str(home), {}, [str(root)])
    assert sessions[0].path == str(latest)
    assert [session.sidechain for session in sessions].index(True) == len(sessions) - 1


def test_moved_folders_are_followed(home: Path, root: Path, tmp_path: Path) -> None:
    """The tools' own variables say where their sessions are."""
    claude, codex, data = tmp_path / "c", tmp_path / "x", tmp_path / "d"
    put(claude / "projects" / claude_slug(str(root)) / "moved.jsonl", samples.claude_code(), new=str(root))
    put(codex / "archived_sessions" / "rollout-9.jsonl", samples.codex(), new=str(root))
    put(
        data / "opencode" / "storage" / "session" / "p" / "ses_9.json",
        json.dumps(samples.OPENCODE_INFO),
        new=str(root),
    )
    environ = {"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(codex), "XDG_DATA_HOME": str(data)}
    names = {name for _, name in found(home, root, environ)}
    assert {"moved.jsonl", "rollout-9.jsonl", "ses_9.json"} <= names
    assert not {"a.jsonl", "rollout-1.jsonl", "ses_1.json"} & names


def test_an_empty_home_has_no_sessions(tmp_path: Path) -> None:
    """Nothing installed is no failure."""
    assert discover_sessions(str(tmp_path), {}, [str(tmp_path)]) == []


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.org/dev/mill.git",
        "https://user:word@git.example.org/Dev/Mill/",
        "git@git.example.org:dev/mill.git",
        "ssh://git@git.example.org:2222/dev/mill",
        "git.example.org:dev/mill",
    ],
)
def test_addresses_of_one_remote_are_equal(url: str) -> None:
    """Scheme, user, port, case and suffix do not matter."""
    assert normalize_remote(url) == "git.example.org/dev/mill"


@pytest.mark.parametrize("url", ["", "/srv/git/mill.git", "../mill", "file:///srv/mill", "https://", "://x"])
def test_what_is_no_remote_address_is_empty(url: str) -> None:
    """A local path is nobody's identity."""
    assert normalize_remote(url) == ""
