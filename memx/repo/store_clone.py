"""Clones of shared stores: which addresses git may be given, cloning, updating.

An address comes from a colleague's message or a README. Git can be talked into
running commands by one (`ext::`, a host that reads as an option), so only plain
https, ssh and local addresses pass, and a clone checks out its `.memx` alone:
no hook, filter, submodule or link of a stranger is ever in play.
"""

from __future__ import annotations

import os
import re

from memx.errors import GitError, UsageError
from memx.record import record
from memx.repo.git import foreign_environ, run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ALLOWED_PROTOCOLS = ("https", "ssh", "file")
TIMEOUT_S = 600.0
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)\Z", re.DOTALL)
_HELPER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::")
_SCP = re.compile(r"(?:[\w.~-]+@)?(\[?[\w.:-]+\]?):(?!//)(.+)\Z")
_HINT = "use https://…, ssh://…, user@host:path or the path of a repository"
_SAFE = (
    *("-c", "protocol.allow=never", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "core.symlinks=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0"),
    *(item for name in ALLOWED_PROTOCOLS for item in ("-c", f"protocol.{name}.allow=always")),
)


@record
class CloneState:
    """Where a clone came from, its commit, and its commit before an update."""

    url: str
    commit: str
    previous: str = ""


def check_address(address: str, cwd: str) -> str:
    """Return an address as git may have it; a local path becomes absolute. Raises UsageError for any other."""
    if not address or not address.isprintable() or address[0] == "-":
        raise UsageError(f"not an address of a repository: {address[:80]!r}", hint=_HINT)
    if _HELPER.match(address):
        raise UsageError("a remote helper can run commands: refused", hint=_HINT)
    url = _SCHEME.match(address)
    if url:
        return _check_url(address, url[1].lower(), url[2])
    local = os.path.join(cwd, os.path.expanduser(address))
    if os.path.isdir(local):
        return os.path.abspath(local)
    remote = _SCP.match(address)
    if remote and len(remote[1]) > 1 and not remote[1].startswith("-") and not remote[2].startswith("-"):
        return address
    raise UsageError(f"there is no repository at {address[:80]!r}", hint=_HINT)


def _check_url(address: str, scheme: str, rest: str) -> str:
    if scheme not in ALLOWED_PROTOCOLS:
        raise UsageError(f"the protocol {scheme} is not allowed", hint=_HINT)
    authority = rest.partition("/")[0]
    user, at, host = authority.rpartition("@")
    if host.startswith("-") or user.startswith("-") or (scheme != "file" and not host):
        raise UsageError("the host of this address reads as an option", hint=_HINT)
    if at and (":" in user or scheme == "https"):
        raise UsageError(
            "an address must not hold a password or token", hint="let git's credential helper keep it"
        )
    return address


def environ_for_clones(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which git speaks the allowed protocols only and fetches no large files."""
    values = foreign_environ(environ)
    values["GIT_ALLOW_PROTOCOL"] = ":".join(ALLOWED_PROTOCOLS)
    values["GIT_LFS_SKIP_SMUDGE"] = "1"
    return values


def clone_store(address: str, folder: str, environ: Mapping[str, str], *, content: str) -> CloneState:
    """Clone a repository into a new folder with nothing but its folder `content` checked out. Raises GitError."""
    values = environ_for_clones(environ)
    options = [
        "--quiet",
        "--no-checkout",
        "--no-tags",
        "--no-local",
        "--no-recurse-submodules",
        "--template=",
    ]
    run_git([*_SAFE, "clone", *options, "--", address, folder], cwd="", timeout_s=TIMEOUT_S, env=values)
    for name, value in (
        ("core.hooksPath", os.devnull),
        ("core.symlinks", "false"),
        ("core.fsmonitor", "false"),
    ):
        run_git(["config", name, value], cwd=folder, env=values)
    patterns = f"/{content}/\n".encode()
    run_git(["sparse-checkout", "set", "--no-cone", "--stdin"], cwd=folder, stdin=patterns, env=values)
    run_git([*_SAFE, "checkout", "--quiet"], cwd=folder, timeout_s=TIMEOUT_S, env=values)
    return describe_clone(folder, environ)


def describe_clone(folder: str, environ: Mapping[str, str]) -> CloneState:
    """Return where a clone comes from and what it holds; empty strings for what it lacks."""
    values = environ_for_clones(environ)
    url = run_git(["config", "--get", "remote.origin.url"], cwd=folder, env=values, check=False)
    commit = run_git(["rev-parse", "--verify", "--quiet", "HEAD"], cwd=folder, env=values, check=False)
    return CloneState(url.decode("utf-8", "replace").rstrip("\n"), commit.decode("ascii", "replace").strip())


def update_clone(folder: str, environ: Mapping[str, str], *, pushes: bool) -> CloneState:
    """Fetch and take over what the other side has; a read-only clone becomes what that is.

    With `pushes`, own commits are put on top and pushed. Raises GitError when
    the two sides have gone apart; a read-only clone without own work follows
    an origin whose history was rewritten.
    """
    values = environ_for_clones(environ)
    before = describe_clone(folder, environ)
    if not before.url:
        raise GitError("this store has no remote to sync with", path=folder, hint="git remote add origin URL")
    check_address(before.url, folder)
    follows = not pushes and not has_own_work(folder, environ, pushes=False)
    run_git([*_SAFE, "fetch", "--quiet", "--no-tags", "origin"], cwd=folder, timeout_s=TIMEOUT_S, env=values)
    upstream = ["rev-parse", "--verify", "--quiet", "@{upstream}"]
    if run_git(upstream, cwd=folder, env=values, check=False).strip():
        how = ["rebase", "--quiet"] if pushes else ["merge", "--quiet", "--ff-only"]
        how = ["reset", "--quiet", "--hard"] if follows else how
        run_git([*_SAFE, *how, "@{upstream}"], cwd=folder, timeout_s=TIMEOUT_S, env=values)
    if pushes and before.commit:
        push = ["push", "--quiet", "--no-verify", "--set-upstream", "origin", "HEAD"]
        run_git([*_SAFE, *push], cwd=folder, timeout_s=TIMEOUT_S, env=values)
    return CloneState(before.url, describe_clone(folder, environ).commit, before.commit)


def has_own_work(folder: str, environ: Mapping[str, str], *, pushes: bool = True) -> bool:
    """Say whether a clone holds changes or commits that are nowhere else.

    Of a clone that never pushes, what the origin's branch was before its last
    fetch is not its own, though a rewritten origin has it no more.
    """
    values = environ_for_clones(environ)
    if run_git(["status", "--porcelain", "-z"], cwd=folder, env=values, check=False).strip(b"\0 \n"):
        return True
    earlier = ["rev-parse", "--verify", "--quiet", "@{upstream}@{1}"]
    known = b"" if pushes else run_git(earlier, cwd=folder, env=values, check=False)
    ahead = ["rev-list", "--max-count=1", "HEAD", "--not", "--remotes", *known.decode("ascii").split()]
    return bool(run_git(ahead, cwd=folder, env=values, check=False).strip())
