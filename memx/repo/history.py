"""Commits as a stream, and files as they were at a revision.

Messages come from `git log --encoding=UTF-8`, which re-encodes what declares
its encoding; bytes that are wrong all the same become U+FFFD. Everything is
NUL-separated, and a patch is read by the line counts in its hunk headers, so
no text inside a commit can pose as structure.
"""

from __future__ import annotations

import os

from memx.errors import GitError
from memx.model import Commit, FileChange
from memx.record import record, replace
from memx.repo.discovery import environ_of, read_head, run_in
from memx.repo.git import stream_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memx.repo.discovery import Repository

MAX_LINES_PER_FILE = 2000
MAX_LINE_BYTES = 4000
_FIRST_BATCH, _LARGEST_BATCH = 16, 256
_FIELDS = ("%H", "%P", "%an", "%at", "%B")
FIELDS_A_COMMIT = len(_FIELDS)
_MESSAGES_ALONE = ("--no-patch",)
_CHANGED_FILES = ("--raw", "--no-abbrev", "-M", "--root")
_ANYWHERE = ":(glob)**/"
_REVISION_OPTIONS = frozenset({"--all", "--branches", "--tags", "--remotes", "--not"})
_PATCH_OPTIONS = (
    *("diff-tree", "--stdin", "--root", "-r", "-M", "-z", "--raw", "-p", "-U0", "--no-abbrev"),
    *("--inter-hunk-context=0", "--submodule=short", "--no-color"),
)


@record
class TreeEntry:
    """A file at a revision or in the index: `mode` as git prints it (100644, 120000, 160000)."""

    path: str
    blob: str
    mode: str


@record
class StagedFile:
    """What the next commit changes: git's status letter and the blob that it will record."""

    path: str
    status: str
    blob: str
    mode: str
    old_path: str = ""


def read_commits(
    repo: Repository,
    revisions: str | Sequence[str] = "HEAD",
    *,
    max_count: int | None = None,
    since: str | float | None = None,
    files: bool = False,
    diffs: bool = False,
    paths: Sequence[str] = (),
    touching: Sequence[str] = (),
    reverse: bool = False,
    no_merges: bool = False,
    no_walk: bool = False,
) -> Iterator[Commit]:
    """Yield commits, the newest first unless `reverse`, in bounded memory; closing the iterator ends git.

    `files` lists each commit's changed files, `diffs` adds removed and added
    lines (-U0) of the files that match the pathspecs `paths` (all when empty).
    `no_walk`: the named commits alone, in the given order.
    `touching` leaves out commits that change none of its pathspecs. A merge has
    two parents or more and no files. An unborn HEAD has no commits. Raises
    GitError for an unknown revision.
    """
    args = _log_arguments(revisions, max_count, since, touching, reverse=reverse, no_merges=no_merges)
    if args is not None and no_walk:
        args.insert(0, "--no-walk=unsorted")
    if args is None or (_is_head_only(revisions) and not read_head(repo).commit):
        return
    commits = _read_log(repo, args, files=files)
    if not diffs:
        yield from commits
        return
    size = _FIRST_BATCH
    batch: list[Commit] = []
    for commit in commits:
        batch.append(commit)
        if len(batch) >= size:
            yield from _with_patches(repo, batch, paths)
            batch, size = [], min(size * 2, _LARGEST_BATCH)
    yield from _with_patches(repo, batch, paths)


def read_unparsed(
    repo: Repository,
    revisions: str | Sequence[str] = "HEAD",
    *,
    max_count: int | None = None,
    since: str | float | None = None,
    no_merges: bool = False,
) -> Iterator[list[bytes]]:
    """Yield the fields of commits as git prints them, FIELDS_A_COMMIT each and the hash first; see `parse_commits`.

    Reading bytes costs a tenth of making commits of them, which other processes
    can do. A list holds whole commits, as many as came at once.
    """
    args = _log_arguments(revisions, max_count, since, (), reverse=False, no_merges=no_merges)
    if args is None or (_is_head_only(revisions) and not read_head(repo).commit):
        return
    chunks = _log_chunks(repo, [*_MESSAGES_ALONE, *args])
    fields: list[bytes] = []
    torn: list[bytes] = []
    try:
        for chunk in chunks:
            torn.append(chunk)
            if b"\0" not in chunk:
                continue
            *whole, rest = b"".join(torn).split(b"\0")
            torn = [rest]
            fields += whole
            ready = len(fields) - len(fields) % FIELDS_A_COMMIT
            if ready:
                yield fields[:ready]
                del fields[:ready]
    finally:
        chunks.close()  # type: ignore[attr-defined]


def parse_commits(unparsed: bytes) -> Iterator[Commit]:
    """Yield the commits of fields that are joined by NUL."""
    fields = unparsed.split(b"\0") if unparsed else []
    for at in range(0, len(fields), FIELDS_A_COMMIT):
        yield _commit(fields[at : at + FIELDS_A_COMMIT], ())


def _is_head_only(revisions: str | Sequence[str]) -> bool:
    return revisions == "HEAD" or list(revisions) == ["HEAD"]


def _log_arguments(
    revisions: str | Sequence[str],
    max_count: int | None,
    since: str | float | None,
    touching: Sequence[str],
    *,
    reverse: bool,
    no_merges: bool,
) -> list[str] | None:
    """Return the options of `git log` or `git rev-list`; None when nothing was asked for."""
    names = [revisions] if isinstance(revisions, str) else list(revisions)
    for name in names:
        if name.startswith("-") and name not in _REVISION_OPTIONS:
            raise GitError(f"not a revision: {name}")
    if not names:
        return None
    args = []
    if max_count is not None:
        args.append(f"--max-count={max_count}")
    if since is not None:
        args.append(f"--since={since if isinstance(since, str) else int(since)}")
    args += ["--reverse"] * reverse + ["--no-merges"] * no_merges
    return [*args, *names, "--", *touching]


def _log_chunks(repo: Repository, args: Sequence[str]) -> Iterator[bytes]:
    form = "--format=" + "%x00".join(_FIELDS)
    command = ["log", "-z", "--encoding=UTF-8", "--no-color", "--no-decorate", form, *args]
    return stream_git(command, cwd=repo.worktree or repo.git_dir, env=environ_of(repo, os.environ))


def _read_log(repo: Repository, args: list[str], *, files: bool) -> Iterator[Commit]:
    shape = _CHANGED_FILES if files else _MESSAGES_ALONE
    chunks = _log_chunks(repo, [*shape, *args])
    reader = _Reader(chunks)
    try:
        while not reader.is_at_end():
            header = [reader.until(b"\0") for _ in _FIELDS]
            changes = _read_raw(reader) if reader.take(b"\n") else ()
            yield _commit(header, changes)
    finally:
        chunks.close()  # type: ignore[attr-defined]


def _commit(header: Sequence[bytes], files: tuple[FileChange, ...]) -> Commit:
    sha, parents, author, authored, message = (field.decode("utf-8", "replace") for field in header)
    try:
        seconds = float(authored)
    except ValueError:
        seconds = 0.0  # a damaged author line; the commit is still worth reading
    return Commit(sha, message.rstrip("\n"), author, seconds, tuple(parents.split()), files)


def _read_raw(reader: _Reader) -> tuple[FileChange, ...]:
    """Read raw entries: modes, blobs, status, NUL, path, NUL; renames and copies have two paths."""
    found = []
    while reader.take(b":"):
        status = reader.until(b"\0").rpartition(b" ")[2].decode("ascii")[:1]
        path = os.fsdecode(reader.until(b"\0"))
        if status in ("R", "C"):
            found.append(FileChange(os.fsdecode(reader.until(b"\0")), status, path))
        else:
            found.append(FileChange(path, status))
    return tuple(found)


def _with_patches(repo: Repository, commits: Sequence[Commit], paths: Sequence[str]) -> Iterator[Commit]:
    """Give each commit its removed and added lines from one `git diff-tree --stdin`."""
    wanted = [
        commit.sha
        for commit in commits
        if len(commit.parents) < 2 and _may_touch(commit, paths)  # noqa: PLR2004 (a merge has two)
    ]
    patches = dict(_read_patches(repo, wanted, paths)) if wanted else {}
    for commit in commits:
        patched = patches.pop(commit.sha, ())
        if not patched:
            yield commit
            continue
        by_path = {change.path: change for change in patched}
        listed = tuple(by_path.pop(change.path, change) for change in commit.files)
        yield replace(commit, files=listed + tuple(by_path.values()))


def _may_touch(commit: Commit, paths: Sequence[str]) -> bool:
    """Tell whether a patch limited to these pathspecs can hold anything, which costs a process to ask git.

    What is not known is possible: a commit whose files were not listed, a pathspec
    that is more than a name in any folder.
    """
    ends = [path.removeprefix(_ANYWHERE) for path in paths if path.startswith(_ANYWHERE)]
    if (
        not commit.files
        or not paths
        or len(ends) < len(paths)
        or any(set(end) & set("/[?\\") for end in ends)
    ):
        return True
    changed = (path for change in commit.files for path in (change.path, change.old_path) if path)
    names = {path.rpartition("/")[2] for path in changed}
    return any(_fits(name, end) for end in ends for name in names)


def _fits(name: str, pattern: str) -> bool:
    """Tell whether a name fits a pattern whose only wildcard is `*`."""
    first, *middles = pattern.split("*")
    if not middles:
        return name == first
    last = middles.pop()
    at, end = len(first), len(name) - len(last)
    if not name.startswith(first) or not name.endswith(last):
        return False
    for middle in middles:
        at = name.find(middle, at, end) + len(middle)
        if at < len(middle):
            return False
    return at <= end


def _read_patches(
    repo: Repository, shas: Sequence[str], paths: Sequence[str]
) -> Iterator[tuple[str, tuple[FileChange, ...]]]:
    feed = "".join(f"{sha}\n" for sha in shas).encode()
    chunks = stream_git(
        [*_PATCH_OPTIONS, "--", *paths],
        cwd=repo.worktree or repo.git_dir,
        stdin=feed,
        env=environ_of(repo, os.environ),
    )
    reader = _Reader(chunks)
    while not reader.is_at_end():
        sha = reader.until(b"\0").decode("ascii", "replace")
        changes = list(_read_raw(reader))
        reader.take(b"\0")
        _read_hunks(reader, changes)
        yield sha, tuple(changes)


def _read_hunks(reader: _Reader, changes: list[FileChange]) -> None:
    """Fill in the lines of one commit; the files of a patch stand in the order of its raw entries."""
    # A change of type (file to link) is printed as a deletion and an addition.
    order = [i for i, change in enumerate(changes) for _ in range(2 if change.status == "T" else 1)]
    block, at = -1, -1
    removed: dict[int, list[str]] = {}
    added: dict[int, list[str]] = {}
    while not reader.is_at_end() and not reader.is_at_hash():
        line = reader.until(b"\n")
        if line.startswith(b"diff --git "):
            block += 1
            at = order[block] if block < len(order) else -1
        elif line.startswith(b"@@ -"):
            old, new = (_length(part) for part in line.split(b" ", 3)[1:3])
            _take_lines(reader, b"-", old, removed.setdefault(at, []))
            reader.take_line(b"\\")
            _take_lines(reader, b"+", new, added.setdefault(at, []))
            reader.take_line(b"\\")
    for index, change in enumerate(changes):
        if index in removed or index in added:
            lines = tuple(removed.get(index, ())), tuple(added.get(index, ()))
            changes[index] = replace(change, removed=lines[0], added=lines[1])


def _length(part: bytes) -> int:
    """Return the count of `-12,3` or `+12` (one)."""
    _, comma, count = part.partition(b",")
    return int(count) if comma else 1


def _take_lines(reader: _Reader, sign: bytes, count: int, into: list[str]) -> None:
    for _ in range(count):
        line = reader.until(b"\n")
        if line.startswith(sign) and len(into) < MAX_LINES_PER_FILE:
            into.append(line[1 : MAX_LINE_BYTES + 1].decode("utf-8", "replace"))


class _Reader:
    """Reads a stream of chunks by delimiter, holding no more than one chunk and one item."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._data = b""
        self._at = 0

    def _more(self) -> bool:
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        self._data = self._data[self._at :] + chunk
        self._at = 0
        return True

    def _peek(self, count: int) -> bytes:
        while len(self._data) - self._at < count and self._more():
            pass
        return self._data[self._at : self._at + count]

    def is_at_end(self) -> bool:
        return not self._peek(1)

    def is_at_hash(self) -> bool:
        """Tell whether a commit's hash and a NUL come next (SHA-1 or SHA-256)."""
        ahead = self._peek(65)
        name = ahead.partition(b"\0")[0]
        return len(name) in (40, 64) and len(name) < len(ahead) and not set(name) - set(b"0123456789abcdef")

    def take(self, literal: bytes) -> bool:
        """Skip `literal` when it comes next."""
        if self._peek(len(literal)) != literal:
            return False
        self._at += len(literal)
        return True

    def take_line(self, start: bytes) -> None:
        """Skip the next line when it begins with `start`."""
        if self._peek(len(start)) == start:
            self.until(b"\n")

    def until(self, delimiter: bytes) -> bytes:
        """Return what comes before the delimiter, and skip it; the rest when there is none."""
        end = self._data.find(delimiter, self._at)
        if end < 0:
            return self._until_far(delimiter)
        item = self._data[self._at : end]
        self._at = end + 1
        return item

    def _until_far(self, delimiter: bytes) -> bytes:
        parts = [self._data[self._at :]]
        self._data, self._at = b"", 0
        for chunk in self._chunks:
            end = chunk.find(delimiter)
            if end >= 0:
                parts.append(chunk[:end])
                self._data, self._at = chunk, end + 1
                break
            parts.append(chunk)
        return b"".join(parts)


def count_commits(
    repo: Repository,
    revisions: str | Sequence[str] = "HEAD",
    *,
    max_count: int | None = None,
    since: str | float | None = None,
    touching: Sequence[str] = (),
    no_merges: bool = False,
) -> int:
    """Return how many commits `read_commits` would yield (about 10 ms per 10,000)."""
    args = _log_arguments(revisions, max_count, since, touching, reverse=False, no_merges=no_merges)
    if args is None or (_is_head_only(revisions) and not read_head(repo).commit):
        return 0
    return int(run_in(repo, ["rev-list", "--count", *args], timeout_s=None))


def list_commits(
    repo: Repository, revisions: str | Sequence[str], *, max_count: int | None = None, no_merges: bool = False
) -> list[str]:
    """Return the hashes alone, the newest first."""
    args = _log_arguments(revisions, max_count, None, (), reverse=False, no_merges=no_merges)
    return [] if args is None else run_in(repo, ["rev-list", *args]).decode("ascii").split()


def resolve_commit(repo: Repository, revision: str) -> str:
    """Return the full hash of a revision; raises GitError when it names no commit."""
    name = _object_name(repo, revision) if revision and not revision.startswith("-") else ""
    # Peeled in a second step: what follows `:/` is all text to look for.
    commit = _object_name(repo, f"{name}^{{commit}}") if name else ""
    if not commit:
        raise GitError(f"not a commit: {revision}")
    return commit


def _object_name(repo: Repository, revision: str) -> str:
    return run_in(repo, ["rev-parse", "--verify", "--quiet", revision], check=False).strip().decode("ascii")


def patch_ids(repo: Repository, shas: Sequence[str]) -> dict[str, str]:
    """Return commit → stable patch-id; merges and empty commits have none. Replayed commits share it."""
    found: dict[str, str] = {}
    for start in range(0, len(shas), _LARGEST_BATCH):
        feed = "".join(f"{sha}\n" for sha in shas[start : start + _LARGEST_BATCH]).encode()
        command = ["diff-tree", "--stdin", "--root", "-r", "-p", "--no-color"]
        patches = run_in(repo, command, stdin=feed, timeout_s=None)
        answer = run_in(repo, ["patch-id", "--stable"], stdin=patches, timeout_s=None) if patches else b""
        for line in answer.decode("ascii", "replace").splitlines():
            patch, _, commit = line.partition(" ")
            found[commit] = patch
    return found


def show_file(repo: Repository, revision: str, path: str) -> bytes:
    """Return a file as it is at a revision; an empty revision means the index. Raises GitError."""
    return run_in(repo, ["cat-file", "blob", f"{revision}:{path}"])


def file_exists_at(repo: Repository, revision: str, path: str) -> bool:
    """Tell whether a revision (empty: the index) has something at `path`."""
    try:
        run_in(repo, ["cat-file", "-e", f"{revision}:{path}"])
    except GitError as error:
        if error.status is None:
            raise
        return False
    return True


def read_blobs(
    repo: Repository, blobs: Sequence[str], *, environ: Mapping[str, str] | None = None
) -> Iterator[tuple[str, bytes | None]]:
    """Yield (blob, content) in order through one `git cat-file --batch`; None when it is missing."""
    if not blobs:
        return
    feed = "".join(f"{blob}\n" for blob in blobs).encode()
    values = environ_of(repo, os.environ) if environ is None else environ
    chunks = stream_git(["cat-file", "--batch"], cwd=repo.worktree or repo.git_dir, stdin=feed, env=values)
    reader = _BlockReader(chunks)
    for blob in blobs:
        words = reader.line().split(b" ")
        if len(words) == 3 and words[2].isdigit():  # noqa: PLR2004 (hash, type, size)
            content = reader.exactly(int(words[2]))
            reader.exactly(1)
            yield blob, content
        else:
            yield blob, None


class _BlockReader:
    """Reads lines and blocks of a known size from chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._data = bytearray()

    def line(self) -> bytes:
        while b"\n" not in self._data:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._data += chunk
        line, _, rest = bytes(self._data).partition(b"\n")
        self._data = bytearray(rest)
        return line

    def exactly(self, count: int) -> bytes:
        while len(self._data) < count:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._data += chunk
        block = bytes(self._data[:count])
        del self._data[:count]
        return block


def list_tree(repo: Repository, revision: str, folder: str = "") -> list[TreeEntry]:
    """Return every file of a revision below `folder`, with real paths from the top."""
    command = ["ls-tree", "-r", "-z", "--full-tree", revision, *(["--", folder] if folder else [])]
    found = []
    for entry in filter(None, run_in(repo, command).split(b"\0")):
        meta, _, path = entry.partition(b"\t")
        mode, _, blob = meta.decode("ascii").split(" ")
        found.append(TreeEntry(os.fsdecode(path), blob, mode))
    return found


def list_index(repo: Repository, folder: str = "") -> list[TreeEntry]:
    """Return the index below `folder`; a conflicted path stands once a stage."""
    command = ["ls-files", "-s", "-z", "--full-name", *(["--", folder] if folder else [])]
    found = []
    for entry in filter(None, run_in(repo, command).split(b"\0")):
        meta, _, path = entry.partition(b"\t")
        mode, blob, _ = meta.decode("ascii").split(" ")
        found.append(TreeEntry(os.fsdecode(path), blob, mode))
    return found


def list_staged(
    repo: Repository, pathspecs: Sequence[str] = (), *, environ: Mapping[str, str] | None = None
) -> list[StagedFile]:
    """Return what the index changes against HEAD (against nothing before the first commit).

    In a hook pass `environ_of(repo, environ, committing=True)`: a partial commit
    has an index of its own.
    """
    command = ["diff", "--cached", "--raw", "-z", "--no-abbrev", "-M", "--", *pathspecs]
    parts = iter(run_in(repo, command, environ=environ).split(b"\0"))
    found = []
    for meta in parts:
        if not meta.startswith(b":"):
            break
        _, mode, _, blob, status = meta.decode("ascii").split(" ")
        path = os.fsdecode(next(parts))
        if status[0] in ("R", "C"):
            found.append(StagedFile(os.fsdecode(next(parts)), status[0], blob, mode, path))
        else:
            found.append(StagedFile(path, status[0], blob, mode))
    return found


def first_commit_dates(repo: Repository, folder: str) -> dict[str, float]:
    """Return path → author date of the first commit that has it, for a whole folder in one `git log`."""
    if not read_head(repo).commit:
        return {}
    found: dict[str, float] = {}
    args = ["--full-history", "--diff-filter=A", "--no-renames", "HEAD", "--", folder]
    for commit in _read_log(repo, args, files=True):
        for change in commit.files:
            found[change.path] = min(commit.authored, found.get(change.path, commit.authored))
    return found
