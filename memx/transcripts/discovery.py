"""Find the sessions of one repository in the folders where the tools keep them.

Only folder names and the first records of a file are read. A session belongs
to the repository when its folder is a worktree root or below one, when its
remote is one of the repository's, or when its file lies inside the worktree.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from hashlib import sha256

from memx.errors import TranscriptError
from memx.record import record
from memx.transcripts import aider, cline, opencode
from memx.transcripts.json_lines import parse_line
from memx.transcripts.reader import read_session
from memx.transcripts.remote import normalize_remote, opencode_project
from memx.transcripts.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memx.transcripts.session import SessionRead

_HEAD_BYTES = 64 * 1024
_SLUG_CHARS = 200
_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9-]")
_CLINE_FOLDER = re.compile(rb"Current (?:Working|Workspace) Directory \(((?:[^)\\]|\\\\){1,400})\)")
_SUB_AGENT = re.compile(r"/subagents/|/agent-[^/]*\.jsonl$")
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline")


@record
class SessionFile:
    """A session log of the repository; `modified` in seconds since the epoch; a sub-agent's is a sidechain."""

    path: str
    format: str
    session_id: str
    cwd: str
    modified: float
    sidechain: bool = False


class _Repository:
    """The worktree roots and remotes to compare with."""

    def __init__(self, roots: Sequence[str], remotes: Sequence[str]) -> None:
        places = [
            place for root in roots if root for place in (os.path.abspath(root), os.path.realpath(root))
        ]
        self.roots = tuple(dict.fromkeys(places))
        self._compared = tuple(comparable(root) for root in self.roots)
        self.remotes = frozenset(filter(None, map(normalize_remote, remotes)))
        self.opencode_ids = frozenset(filter(None, map(opencode_project, remotes)))

    def has_folder(self, cwd: str) -> bool:
        """Tell whether a folder is one of the roots or lies below one."""
        place = comparable(cwd) if cwd else ""
        return any(
            place == root or place.startswith(root.rstrip("/") + "/") for root in self._compared if place
        )

    def has_remote(self, url: str) -> bool:
        """Tell whether an address is one of the remotes."""
        return bool(url) and normalize_remote(url) in self.remotes


def comparable(path: str) -> str:
    """Return a path with forward slashes, without case where the system ignores it."""
    text = path.replace("\\", "/") if re.match(r"^[A-Za-z]:|^\\\\", path) else path
    text = text.rstrip("/") or "/"
    return text.lower() if sys.platform in ("win32", "darwin") or re.match(r"^[A-Za-z]:", text) else text


def discover_sessions(
    home: str, environ: Mapping[str, str], roots: Sequence[str], remotes: Sequence[str] = ()
) -> list[SessionFile]:
    """Return the repository's sessions of every known tool, the latest first, those of sub-agents last.

    `roots` are all worktree roots, `remotes` all remote URLs. What cannot be
    read is passed over: it is somebody's live file.
    """
    repository = _Repository(roots, remotes)
    found: dict[tuple[str, str], SessionFile] = {}
    for search in (_claude, _codex, _gemini, _copilot, _opencode, _cline, _aider, _specstory):
        for session in search(home, environ, repository):
            found.setdefault((os.path.realpath(session.path), session.session_id), session)
    return sorted(found.values(), key=_latest_first)


def _latest_first(session: SessionFile) -> tuple[bool, float, str, str]:
    return session.sidechain, -session.modified, session.path, session.session_id


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _folders(folder: str) -> list[str]:
    """Return the names in a folder; none when it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _glob(folder: str, *pattern: str, recursive: bool = False) -> list[str]:
    return sorted(
        glob.glob(os.path.join(glob.escape(folder), *pattern), recursive=recursive, include_hidden=True)
    )


def _opened(path: str, format_name: str) -> SessionRead | None:
    """Return a session with the facts of its first records, its events unread."""
    try:
        return read_session(path, format=format_name)
    except TranscriptError:
        return None


def _listed(path: str, session: SessionRead) -> SessionFile:
    is_sub = session.sidechain or bool(_SUB_AGENT.search(path.replace(os.sep, "/")))
    return SessionFile(path, session.format, session.session_id, session.cwd, _modified(path), is_sub)


def claude_slug(path: str) -> str:
    """Return the folder name that Claude Code makes from a path."""
    return _NOT_IN_SLUG.sub("-", path)


def _claude(home: str, environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    base = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    projects = os.path.join(base, "projects")
    # Slugs are ambiguous: they only narrow the search, the folder in the log decides.
    slugs = tuple(claude_slug(root)[:_SLUG_CHARS].lower() for root in repository.roots)
    for name in _folders(projects):
        if not name.lower().startswith(slugs):
            continue
        folder = os.path.join(projects, name)
        for path in _glob(folder, "*.jsonl") + _glob(
            folder, "*", "subagents", "**", "*.jsonl", recursive=True
        ):
            session = _opened(path, "claude_code")
            if session and repository.has_folder(session.cwd):
                yield _listed(path, session)


def _codex(home: str, environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    bases = [environ.get("CODEX_HOME") or os.path.join(home, ".codex")]
    bases += [os.path.join(root, ".codex") for root in repository.roots]
    for base in dict.fromkeys(bases):
        paths = _glob(os.path.join(base, "sessions"), "**", "rollout-*.jsonl", recursive=True)
        for path in paths + _glob(os.path.join(base, "archived_sessions"), "rollout-*.jsonl"):
            session = _opened(path, "codex")
            if session and (
                repository.has_folder(session.cwd) or repository.has_remote(session.repository_url)
            ):
                yield _listed(path, session)


def _copilot(home: str, _environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    base = os.path.join(home, ".copilot")
    for state in ("session-state", "history-session-state"):
        folder = os.path.join(base, state)
        for path in _glob(folder, "*", "events.jsonl") + _glob(folder, "*.jsonl"):
            session = _opened(path, "copilot_cli")
            if session and (
                repository.has_folder(session.cwd) or repository.has_remote(session.repository_url)
            ):
                yield _listed(path, session)


def _gemini(home: str, _environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    base = os.path.join(home, ".gemini", "tmp")
    hashes = _root_hashes(repository.roots)
    for name in _folders(base):
        folder = os.path.join(base, name)
        marked = _first_line(os.path.join(folder, ".project_root"))
        is_ours = name.lower() in hashes or repository.has_folder(marked)
        for path in _glob(folder, "chats", "*.json*") + _glob(folder, "chats", "*", "*.json*"):
            if not is_ours and _project_hash(path) not in hashes:
                continue
            session = _opened(path, "gemini")
            if session:
                identifier = session.session_id or _quick_id(path)
                cwd = marked or hashes.get(name.lower()) or hashes.get(_project_hash(path), "")
                is_sub = os.path.basename(os.path.dirname(path)) != "chats"
                yield SessionFile(path, "gemini", identifier, cwd, _modified(path), is_sub)


def _root_hashes(roots: Sequence[str]) -> dict[str, str]:
    """Return sha256 of each root, with the drive letter in both cases, to the root."""
    hashes: dict[str, str] = {}
    for root in roots:
        for form in (root, root[:1].lower() + root[1:], root[:1].upper() + root[1:]):
            hashes[sha256(form.encode("utf-8", "surrogatepass")).hexdigest()] = root
    return hashes


def _head(path: str) -> bytes:
    try:
        return Source(path).head(_HEAD_BYTES)
    except TranscriptError:
        return b""


def _first_line(path: str) -> str:
    return _head(path).split(b"\n", 1)[0].decode("utf-8", "replace").strip() if os.path.isfile(path) else ""


def _project_hash(path: str) -> str:
    found = re.search(rb'"projectHash"\s*:\s*"([0-9a-fA-F]{64})"', _head(path)[:4096])
    return found[1].decode().lower() if found else ""


def _quick_id(path: str) -> str:
    found = re.search(rb'"sessionId"\s*:\s*"([\w-]{1,80})"', _head(path)[:4096])
    return found[1].decode() if found else ""


def _opencode(home: str, environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    bases = [os.path.join(environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "opencode")]
    if environ.get("LOCALAPPDATA"):
        bases.append(os.path.join(environ["LOCALAPPDATA"], "opencode"))
    for base in bases:
        for path in _glob(base, "storage", "session", "*", "ses_*.json"):
            objects = parse_line(_head(path)).objects
            if objects and _is_ours(objects[0], repository):
                yield _opencode_file(path, objects[0])
        database = os.path.join(base, "opencode.db")
        if os.path.isfile(database):
            try:
                rows = opencode.database_sessions(database)
            except TranscriptError:
                continue
            for info in rows:
                if _is_ours(info, repository):
                    yield _opencode_file(database, info)


def _is_ours(info: Mapping[str, object], repository: _Repository) -> bool:
    directory = info.get("directory")
    project = info.get("projectID")
    return (
        isinstance(directory, str) and repository.has_folder(directory)
    ) or project in repository.opencode_ids


def _opencode_file(path: str, info: Mapping[str, object]) -> SessionFile:
    identifier, directory = str(info.get("id") or ""), info.get("directory")
    cwd = directory if isinstance(directory, str) else ""
    return SessionFile(path, "opencode", identifier, cwd, _modified(path), bool(info.get("parentID")))


def _code_folders(home: str, environ: Mapping[str, str]) -> Iterator[str]:
    bases = [
        environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
        os.path.join(home, "Library", "Application Support"),
        environ.get("APPDATA", ""),
    ]
    for base in filter(None, bases):
        for product in ("Code", "Code - Insiders", "VSCodium", "Cursor"):
            yield os.path.join(base, product, "User")
    yield os.path.join(home, ".vscode-server", "data", "User")
    yield os.path.join(home, ".vscode-remote", "data", "User")


def _cline(home: str, environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    for user_folder in _code_folders(home, environ):
        for extension in _EXTENSIONS:
            folder = os.path.join(user_folder, "globalStorage", extension, "tasks")
            for name in _folders(folder):
                path = os.path.join(folder, name, cline.HISTORY_FILE)
                cwd = _cline_folder(path) if os.path.isfile(path) else ""
                if repository.has_folder(cwd):
                    yield SessionFile(path, "cline", name, cwd, _modified(path))


def _cline_folder(path: str) -> str:
    found = _CLINE_FOLDER.search(_head(path))
    return found[1].decode("utf-8", "replace").replace("\\\\", "\\") if found else ""


def _aider(home: str, environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    del home
    named = environ.get("AIDER_CHAT_HISTORY_FILE") or aider.HISTORY_FILE
    for root in repository.roots:
        path = os.path.join(root, named)
        if os.path.isfile(path):
            yield SessionFile(path, "aider", "", root, _modified(path))


def _specstory(home: str, environ: Mapping[str, str], repository: _Repository) -> Iterator[SessionFile]:
    del home, environ
    for root in repository.roots:
        for path in _glob(os.path.join(root, ".specstory", "history"), "*.md"):
            yield SessionFile(path, "specstory", "", root, _modified(path))
