"""Which repository a folder belongs to, and where its HEAD points, read by hand.

Spawning `git rev-parse` costs 3 ms, more than everything else that a search
does in git. The rules are git's own (gitrepository-layout, git-worktree,
`GIT_CEILING_DIRECTORIES`, safe.directory); what is not plain is left to git.
"""

from __future__ import annotations

import os

from memx.errors import GitError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAX_SYMREFS = 5
_USUAL_DEFAULT_BRANCHES = ("main", "master", "trunk", "develop")


@record
class Repository:
    """Absolute paths. `worktree` is empty in a bare repository; `common_dir` is shared by all worktrees."""

    worktree: str
    git_dir: str
    common_dir: str


@record
class Head:
    """`commit` is empty before the first commit, `branch` when detached."""

    commit: str
    branch: str


@record
class Worktree:
    """One of a repository's work trees; the first is the main one (or the bare repository itself)."""

    path: str
    head: Head
    bare: bool = False
    prunable: bool = False


def discover(start: str, environ: Mapping[str, str]) -> Repository | None:
    """Return the repository that git would use in `start`, None outside of any.

    Raises GitError where git itself would refuse, such as in a folder of another
    user that is no safe.directory.
    """
    folder = os.path.realpath(start)
    given = environ.get("GIT_DIR")
    if given is not None:
        return _from_environment(folder, given, environ)
    found = _walk_up(folder, environ)
    if found is None:
        return None
    top, git_dir, is_plain = found
    common_dir = _common_dir(git_dir, folder, environ)
    if not is_plain or not _is_own(git_dir) or (top and not _is_own(top)):
        return _ask_git(folder, environ)
    worktree = _worktree(top, git_dir, common_dir, folder, environ)
    return None if worktree is None else Repository(worktree, git_dir, common_dir)


def open_repository(start: str, environ: Mapping[str, str]) -> Repository:
    """Return the repository of `start`; raises GitError outside of any."""
    found = discover(start, environ)
    if found is None:
        raise GitError("not a git repository (or any of the parent directories)", path=start, hint="git init")
    return found


def environ_of(repo: Repository, environ: Mapping[str, str], *, committing: bool = False) -> dict[str, str]:
    """Return the environment in which git means `repo`, from wherever it is started.

    `committing`: keep GIT_INDEX_FILE and the object folders, which name the
    index of the commit that is being made (a partial commit has its own).
    """
    from memx.repo.git import LOCAL_VARIABLES  # a search asks no git

    kept = {} if committing else LOCAL_VARIABLES
    values = {key: value for key, value in environ.items() if key not in kept}
    if committing and "GIT_INDEX_FILE" in values:
        values["GIT_INDEX_FILE"] = os.path.join(os.getcwd(), values["GIT_INDEX_FILE"])
    values["GIT_DIR"] = repo.git_dir
    values["GIT_COMMON_DIR"] = repo.common_dir
    if repo.worktree:
        values["GIT_WORK_TREE"] = repo.worktree
    else:
        values.pop("GIT_WORK_TREE", None)
    return values


def run_in(
    repo: Repository,
    args: Sequence[str | bytes],
    *,
    timeout_s: float | None = 30.0,
    stdin: bytes | None = None,
    environ: Mapping[str, str] | None = None,
    check: bool = True,
) -> bytes:
    """Run git on `repo` from its top folder.

    `environ` None: the own environment without another repository's variables;
    a committing hook passes `environ_of(repo, environ, committing=True)`.
    """
    from memx.repo.git import run_git

    values = environ_of(repo, os.environ) if environ is None else environ
    folder = repo.worktree or repo.git_dir
    return run_git(args, cwd=folder, timeout_s=timeout_s, stdin=stdin, env=values, check=check)


def _from_environment(folder: str, given: str, environ: Mapping[str, str]) -> Repository | None:
    """Trust GIT_DIR as git does: no search and no question of ownership."""
    git_dir = os.path.realpath(os.path.join(folder, given))
    if os.path.isfile(git_dir):
        git_dir = _read_git_file(git_dir) or git_dir
    if not _is_git_dir(git_dir):
        return _ask_git(folder, environ)
    common_dir = _common_dir(git_dir, folder, environ)
    explicit = environ.get("GIT_WORK_TREE")
    if explicit:
        return Repository(os.path.realpath(os.path.join(folder, explicit)), git_dir, common_dir)
    if common_dir != git_dir:
        return Repository(
            folder, git_dir, common_dir
        )  # linked, see _worktree: a submodule's names its main one
    settings = _core_settings(git_dir, common_dir)
    if settings is None:
        return _ask_git(folder, environ)
    bare, worktree = settings
    if worktree:
        return Repository(os.path.realpath(os.path.join(git_dir, worktree)), git_dir, common_dir)
    return Repository("" if bare else folder, git_dir, common_dir)


def _walk_up(folder: str, environ: Mapping[str, str]) -> tuple[str, str, bool] | None:
    """Return (top of the worktree or '', git dir, read without doubt) of the nearest repository."""
    floor = _ceiling(folder, environ)
    stay = environ.get("GIT_DISCOVERY_ACROSS_FILESYSTEM", "") in ("", "0", "false", "no", "off")
    try:
        device = os.stat(folder).st_dev
    except OSError:
        return None
    current = folder
    while True:
        entry = os.path.join(current, ".git")
        if _is_git_dir(entry):
            return current, os.path.realpath(entry), True
        if os.path.isfile(entry):
            target = _read_git_file(entry)
            return current, target or entry, bool(target) and _is_git_dir(target or "")
        if _is_git_dir(current):
            return "", current, True
        parent = os.path.dirname(current)
        if parent == current or len(parent) <= floor:
            return None
        if stay and os.stat(parent).st_dev != device:
            return None
        current = parent


def _ceiling(folder: str, environ: Mapping[str, str]) -> int:
    """Return the length of the deepest GIT_CEILING_DIRECTORIES entry above `folder`, -1 without one."""
    floor = -1
    resolve = True
    for entry in environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep):
        if not entry:
            resolve = False  # git's own rule: entries after an empty one are not resolved
            continue
        path = os.path.realpath(entry) if resolve else entry.rstrip("/")
        if folder.startswith(path.rstrip(os.sep) + os.sep):
            floor = max(floor, len(path))
    return floor


def _is_git_dir(path: str) -> bool:
    """Tell whether git would take `path` for a git dir: HEAD, objects and refs, or a common dir."""
    head = os.path.join(path, "HEAD")
    if not os.path.isfile(head) and not os.path.islink(head):
        return False
    if os.path.isfile(os.path.join(path, "commondir")):
        return True
    return os.path.isdir(os.path.join(path, "objects")) and os.path.isdir(os.path.join(path, "refs"))


def _read_git_file(path: str) -> str | None:
    """Return the absolute git dir that a `.git` file names (linked worktree, submodule), else None."""
    content = _read(path, 8192).rstrip(b"\r\n")
    if not content.startswith(b"gitdir: "):
        return None
    target = os.fsdecode(content[len(b"gitdir: ") :])
    return os.path.realpath(os.path.join(os.path.dirname(path), target))


def _common_dir(git_dir: str, folder: str, environ: Mapping[str, str]) -> str:
    given = environ.get("GIT_COMMON_DIR")
    if given:
        return os.path.realpath(os.path.join(folder, given))
    content = _read(os.path.join(git_dir, "commondir"), 8192).rstrip(b"\r\n")
    return os.path.realpath(os.path.join(git_dir, os.fsdecode(content))) if content else git_dir


def _worktree(top: str, git_dir: str, common_dir: str, folder: str, environ: Mapping[str, str]) -> str | None:
    explicit = environ.get("GIT_WORK_TREE")
    if explicit:
        return os.path.realpath(os.path.join(folder, explicit))
    if top and common_dir != git_dir:
        return top  # a linked worktree: core.bare and core.worktree speak of the main one
    settings = _core_settings(git_dir, common_dir)
    if settings is None:
        repository = _ask_git(folder, environ)
        return None if repository is None else repository.worktree
    bare, worktree = settings
    if worktree:
        return os.path.realpath(os.path.join(git_dir, worktree))
    return "" if bare else top


def _core_settings(git_dir: str, common_dir: str) -> tuple[bool, str] | None:
    """Return (core.bare, core.worktree), None when the config includes other files or quotes the value."""
    bare, worktree = False, ""
    for path in (os.path.join(common_dir, "config"), os.path.join(git_dir, "config.worktree")):
        content = _read(path, 1 << 20)
        lower = content.lower()
        if b"[include" in lower and (b"bare" in lower or b"worktree" in lower):
            return None
        section = b""
        for line in content.splitlines():
            text = line.strip()
            if text.startswith(b"["):
                section = text.lower()
                if section.startswith(b"[core]") and section != b"[core]":
                    return None
                continue
            key, _, value = text.partition(b"=")
            key, value = key.strip().lower(), value.strip()
            if section != b"[core]" or key not in (b"bare", b"worktree"):
                continue
            if set(value) & set(b'"\\;#'):
                return None
            if key == b"bare":
                bare = value.lower() in (b"true", b"yes", b"on", b"1") or b"=" not in text
            else:
                worktree = os.fsdecode(value)
    return bare, worktree


def _is_own(path: str) -> bool:
    """Tell whether git would take the owner for granted; otherwise git itself is asked (safe.directory)."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def _ask_git(folder: str, environ: Mapping[str, str]) -> Repository | None:
    """Let git find the repository, or say in its own words why not."""
    from memx.repo.git import run_git

    args = ["rev-parse", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir"]
    values = dict(environ)
    try:
        answer = run_git(args, cwd=folder, env=values)
    except GitError as error:
        if "not a git repository (or any" in error.message:
            return None
        raise
    lines = answer.split(b"\n")
    git_dir = os.fsdecode(lines[1])
    common_dir = os.path.realpath(os.path.join(folder, os.fsdecode(lines[2])))
    top = run_git(["rev-parse", "--show-toplevel"], cwd=folder, env=values, check=False).rstrip(b"\n")
    return Repository(os.fsdecode(top), os.path.realpath(git_dir), common_dir)


def read_head(repo: Repository) -> Head:
    """Return what HEAD names: loose and packed refs by hand, anything else (reftable) through git."""
    content = _read(os.path.join(repo.git_dir, "HEAD"), 4096).rstrip(b"\n ")
    if not content.startswith(b"ref:"):
        return Head(content.decode("ascii", "replace"), "") if _is_hash(content) else _head_by_git(repo)
    name = content[4:].strip()
    if name == b"refs/heads/.invalid":
        return _head_by_git(repo)
    commit = _resolve(repo, name)
    if commit is None:
        return _head_by_git(repo)
    return Head(commit.decode("ascii"), os.fsdecode(name.removeprefix(b"refs/heads/")))


def _resolve(repo: Repository, name: bytes) -> bytes | None:
    """Return the hash a ref holds, b'' when there is no such ref yet, None when it is not plain."""
    for _ in range(_MAX_SYMREFS):
        private = name.startswith((b"refs/bisect/", b"refs/worktree/", b"refs/rewritten/"))
        folder = repo.git_dir if private else repo.common_dir
        content = _read(os.path.join(os.fsencode(folder), name), 4096).strip()
        if content.startswith(b"ref:"):
            name = content[4:].strip()
        elif content:
            return content if _is_hash(content) else None
        else:
            return _packed(repo.common_dir, name)
    return None


def _packed(common_dir: str, name: bytes) -> bytes:
    content = b"\n" + _read(os.path.join(common_dir, "packed-refs"), -1)
    end = content.find(b" " + name + b"\n")
    if end < 0:
        return b""
    commit = content[content.rfind(b"\n", 0, end) + 1 : end]
    return commit if _is_hash(commit) else b""


def _head_by_git(repo: Repository) -> Head:
    commit = run_in(repo, ["rev-parse", "--verify", "--quiet", "HEAD"], check=False).strip()
    branch = run_in(repo, ["symbolic-ref", "--quiet", "--short", "HEAD"], check=False).rstrip(b"\n")
    return Head(commit.decode("ascii", "replace"), os.fsdecode(branch))


def default_branch(repo: Repository) -> str:
    """Return the branch that others start from: origin's HEAD, else a usual name that exists, else ''."""
    remote = _read(os.path.join(repo.common_dir, "refs", "remotes", "origin", "HEAD"), 4096).strip()
    prefix = b"ref: refs/remotes/origin/"
    if remote.startswith(prefix):
        return os.fsdecode(remote[len(prefix) :])
    for name in _USUAL_DEFAULT_BRANCHES:
        if _resolve(repo, b"refs/heads/" + name.encode()):
            return name
    return ""


def list_worktrees(repo: Repository) -> list[Worktree]:
    """Return all work trees of the repository, the main one first."""
    try:
        answer = run_in(repo, ["worktree", "list", "--porcelain", "-z"])
    except GitError:
        # -z came with git 2.36; the older form differs only for paths with a newline
        answer = run_in(repo, ["worktree", "list", "--porcelain"]).replace(b"\n", b"\0")
    found = []
    for block in answer.split(b"\0\0"):
        pairs = dict(line.partition(b" ")[::2] for line in block.split(b"\0") if line)
        if b"worktree" not in pairs:
            continue
        commit = pairs.get(b"HEAD", b"").decode("ascii")
        branch = os.fsdecode(pairs.get(b"branch", b"").removeprefix(b"refs/heads/"))
        head = Head("" if set(commit) == {"0"} else commit, branch)
        found.append(Worktree(os.fsdecode(pairs[b"worktree"]), head, b"bare" in pairs, b"prunable" in pairs))
    return found


def is_rebasing(repo: Repository) -> bool:
    """Tell whether a rebase is under way, whose replayed commits are no news; `git am` is none."""
    merging = os.path.join(repo.git_dir, "rebase-merge")
    applying = os.path.join(repo.git_dir, "rebase-apply", "rebasing")
    return os.path.isdir(merging) or os.path.exists(applying)


def _is_hash(content: bytes) -> bool:
    return len(content) in (40, 64) and not set(content) - set(b"0123456789abcdef")


def _read(path: str | bytes, limit: int) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(limit)
    except OSError:
        return b""
