"""The words of the domain as immutable records.

Times are seconds since the epoch in UTC (float); None means absent. Sections
and types are lower-case strings from SECTIONS and TYPES.
"""

from __future__ import annotations

from memx.record import record

SECTIONS = (
    "commands",
    "debugging",
    "architecture",
    "workflow",
    "tools",
    "patterns",
    "preferences",
    "general",
)
TYPES = ("method", "trick", "pitfall", "preference", "knowledge")

SCOPE_GLOBAL = "global"
SCOPE_PROJECT = "project"


def is_scope_name(name: str) -> bool:
    """Say whether a project or workspace may be called so: as git lets a branch be, with no way up or out."""
    return name.isprintable() and "\\" not in name and {"", ".", ".."}.isdisjoint(name.strip().split("/"))


def is_branch_name(name: str) -> bool:
    """Say whether a workspace may be called so: as git lets a branch be (git check-ref-format)."""
    parts = name.split("/")
    return (
        is_scope_name(name)
        and set(" ~^:?*[").isdisjoint(name)
        and not any(taken in name for taken in ("..", "@{"))
        and not (name == "@" or name.startswith("-") or name.endswith("."))
        and not any(part.startswith(".") or part.endswith(".lock") for part in parts)
    )


@record
class Bullet:
    """One lesson: the front matter fields of its file and the body as text."""

    id: str
    text: str
    section: str = "general"
    type: str = "knowledge"
    score: int = 50
    scope: str = SCOPE_PROJECT
    recall_count: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    created: float | None = None
    updated: float | None = None
    accepted: float | None = None
    last_recalled: float | None = None
    source: str = ""
    half_life_days: float | None = None
    pinned: bool = False
    merged_from: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    compatible_with: tuple[str, ...] = ()
    """Bullets that a person has judged to hold beside this one: neither merged nor called a conflict again."""
    author: str = ""
    lang: str = ""
    disputed: float | None = None
    disputed_because: str = ""


@record
class StoredBullet:
    """A bullet, the store that owns it and its path relative to the store's root."""

    bullet: Bullet
    path: str
    store: str = "project"
    archived: bool = False


@record
class Problem:
    """Something wrong at a place: reported, never hiding what is right.

    kind: front-matter, conflict-marker, secret, duplicate-id, unsafe-path, unreadable, or a key's name.
    """

    message: str
    path: str
    line: int | None = None
    hint: str = ""
    kind: str = ""


@record
class FileChange:
    """One file of a commit: `status` is git's letter, hunks hold removed and added lines."""

    path: str
    status: str = "M"
    old_path: str = ""
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


@record
class Commit:
    """A commit as the reflector sees it; `files` is empty when only messages were read."""

    sha: str
    message: str
    author: str = ""
    authored: float = 0.0
    parents: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()


@record
class Event:
    """One turn of an agent session, whatever tool wrote it.

    role: user, assistant, tool or system. kind: text, call, result or summary.
    is_error: True, False, or None when the format does not say.
    """

    role: str
    kind: str
    text: str
    tool: str = ""
    call_id: str = ""
    is_error: bool | None = None
    exit_code: int | None = None
    time: float | None = None
    cwd: str = ""
    branch: str = ""
    session_id: str = ""
    sidechain: bool = False
    key: str = ""
    """Idempotence key within the session: record uuid, call id, message id or offset."""
    action: str = ""
    """What a call does, whatever the tool names it: shell, edit, read, search, fetch or other."""
    path: str = ""
    """The file that an edit or read names, as the tool wrote it."""


@record
class Span:
    """What a rule saw: a half-open range of characters and its words."""

    start: int
    end: int
    text: str
    label: str = ""


@record
class Candidate:
    """A lesson that no person has accepted yet."""

    id: str
    text: str
    rule: str
    confidence: float
    score: int
    section: str
    type: str
    title: str = ""
    tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    source: str = ""
    created: float | None = None
    evidence: tuple[Span, ...] = ()
    redacted: tuple[str, ...] = ()
    lang: str = ""
    author: str = ""


@record
class Rejection:
    """Why something that a rule saw did not become a candidate."""

    rule: str
    reason: str
    source: str
    text: str = ""


@record
class Hit:
    """A ranked bullet with every factor of its score (design section 4)."""

    id: str
    path: str
    store: str
    section: str
    type: str
    scope: str
    text: str
    score: float
    keyword: float
    blended: float
    l1: float
    l2: float
    l3: float
    semantic: float
    decay: float
    recency_boost: float
    scope_boost: float
    instructivity: int
    recall_count: int
    title: str = ""
    source: str = ""
    created: float | None = None
    archived: bool = False
    truncated: bool = False
    conflicts_with: tuple[str, ...] = ()
    superseded: bool = False
    drifted: bool = False
