"""`memx doctor`: everything that memx needs, checked one by one."""

from __future__ import annotations

import os

from memx.amount import amount
from memx.app.places import is_writable, user_dir
from memx.errors import MemxError, ModelUnavailableError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memx.app.project import Project


@record
class Check:
    """One thing that was looked at."""

    name: str
    is_ok: bool
    detail: str
    hint: str = ""


def examine(project: Project) -> list[Check]:
    """Return every check; one that fails never keeps the others from being made."""
    return [_guarded(name, check, project) for name, check in _CHECKS.items()]


def _guarded(name: str, check: Callable[[Project], Check], project: Project) -> Check:
    try:
        return check(project)
    except MemxError as error:
        return Check(name, is_ok=False, detail=str(error), hint=error.hint or "")


def _git(project: Project) -> Check:
    from memx.repo.git import run_git

    version = run_git(["--version"], cwd=project.cwd).decode("utf-8", "replace").strip()
    if project.repository is None:
        return Check("git", True, f"{version}; not inside a repository")  # noqa: FBT003 (a field)
    return Check("git", True, f"{version}; {project.repository.git_dir}")  # noqa: FBT003 (a field)


def _config(project: Project) -> Check:
    problems = project.loaded_config.problems
    detail = "; ".join(f"{p.path}:{p.line}: {p.message}" for p in problems) or "valid"
    return Check("configuration", not problems, detail, problems[0].hint if problems else "")


def _store(project: Project) -> Check:
    from memx.store.lint import find_cycles

    bullets, problems = project.store.scan()
    problems = [*problems, *find_cycles(bullets)]
    broken = "".join(f"; {p.path}:{p.line or 1}: {p.message}" for p in problems)
    hint = "memx lint" if problems else ""
    return Check(
        "store", not problems, f"{amount(len(bullets), 'bullet')} in {project.store.root}{broken}", hint
    )


def _index(project: Project) -> Check:
    from memx.app.index import open_index

    index, _ = open_index(project)
    snapshot = index.snapshot(fresh=True)
    if snapshot.is_linear and snapshot.size:
        detail = f"{amount(snapshot.size, 'bullet')}, read without an index"
        hint = (
            "memx reindex --rebuild"
            if is_writable(project.cache_dir)
            else f"make {project.cache_dir} writable"
        )
        return Check("index", is_ok=False, detail=detail, hint=hint)
    vectors = index.vectors
    obstacle = "" if vectors is None else vectors.obstacle()
    if obstacle:
        detail = f"vectors cannot be written: {obstacle}"
        return Check("index", False, detail, "make it a folder that you may write, or remove it")  # noqa: FBT003 (a field)
    lacking = index.unembedded()
    if lacking or not (vectors is None or vectors.store.is_whole()):
        what = f"{amount(lacking, 'bullet')} without a vector" if lacking else "vectors that are damaged"
        return Check("index", False, f"{what} of {amount(snapshot.size, 'bullet')}", "memx reindex")  # noqa: FBT003 (a field)
    archived = snapshot.count("facet", "archived")
    said = f"{amount(snapshot.size, 'bullet')}{f' ({archived} archived)' if archived else ''} in {project.cache_dir}"
    return Check("index", is_ok=True, detail=said)


def _model(project: Project) -> Check:
    from memx.app.package_data import REMEDY
    from memx.index.dense.model import BUNDLED, check_own_model, load_model_info, verify_model

    config = project.config.embedding
    is_bundled = config.model == BUNDLED
    remedy = (
        REMEDY
        if is_bundled
        else "put the model's files there again (memx trust --download fetches one of the hub), "
        "or memx config set embedding.model bundled"
    )
    try:
        model = load_model_info(config, trusted=True, cache_dir=user_dir("cache", project.environ))
        damaged = verify_model(model) if is_bundled else check_own_model(model)
    except ModelUnavailableError as error:
        return Check("model", is_ok=False, detail=str(error), hint=remedy)
    if not damaged and _is_simsimd_broken():
        detail = "simsimd is installed and cannot be used; numpy compares vectors in its place, more slowly"
        return Check("model", is_ok=False, detail=detail, hint="pip install --force-reinstall simsimd")
    detail = "; ".join(damaged) or f"{model.id}, {model.dimension} dimensions, {model.dir}"
    return Check("model", not damaged, detail, remedy if damaged else "")


def _is_simsimd_broken() -> bool:
    """Say whether the library has a build here that does not load: where it has none, numpy is meant to do its work."""
    from importlib.util import find_spec

    from memx.index.dense.scan import load_simsimd

    return find_spec("simsimd") is not None and load_simsimd() is None


def _package_data(project: Project) -> Check:  # noqa: ARG001 (one signature for all)
    """Hold the package's own data files against the digests that were recorded when they were made."""
    from memx.app.package_data import REMEDY, damaged_files

    damaged = damaged_files()
    detail = "; ".join(damaged) or "as it was installed"
    return Check("package data", not damaged, detail, REMEDY if damaged else "")


def _hooks(project: Project) -> Check:
    from memx.repo.hooks import status

    if project.repository is None:
        return Check("hooks", True, "no repository")  # noqa: FBT003 (a field)
    report = status(project.repository)
    running = [state for state in report.hooks if state.runs_memx]
    detail = f"{', '.join(state.name for state in running) or 'none'} in {report.hooks_dir}"
    broken = dict.fromkeys(state.note for state in running if state.lacks_interpreter)
    if broken:
        detail = f"{detail}; {'; '.join(broken)}"
    is_ok = bool(running) and not broken
    return Check("hooks", is_ok, detail, "" if is_ok else "memx hooks install")


def _merge_driver(project: Project) -> Check:
    """Look at what git would run for a bullet that two branches changed."""
    from memx.repo.config_writer import read_option
    from memx.repo.merge_driver import DRIVER_NAME, missing_files

    name = "merge driver"
    repository = project.repository
    if repository is None or not os.path.isfile(os.path.join(project.store_root, ".gitattributes")):
        return Check(name, True, "no store that asks for it")  # noqa: FBT003 (a field)
    command = read_option(repository, f"merge.{DRIVER_NAME}.driver")
    if not command:
        return Check(name, False, f"merge.{DRIVER_NAME}.driver is not set", "memx init")  # noqa: FBT003 (a field)
    missing = missing_files(command)
    detail = f"it names {', '.join(missing)}, which is not there" if missing else "registered"
    return Check(name, not missing, detail, "memx init" if missing else "")


def _places(project: Project) -> Check:
    places = {"state": project.state_dir, "cache": project.cache_dir}
    closed = [f"{name} {path}" for name, path in places.items() if not is_writable(path)]
    detail = f"not writable: {', '.join(closed)}" if closed else os.path.dirname(project.state_dir)
    hint = "make it writable, or set XDG_STATE_HOME and XDG_CACHE_HOME to folders that are" if closed else ""
    return Check("folders", not closed, detail, hint)


_CHECKS: dict[str, Callable[[Project], Check]] = {
    "git": _git,
    "configuration": _config,
    "folders": _places,
    "store": _store,
    "index": _index,
    "model": _model,
    "package data": _package_data,
    "hooks": _hooks,
    "merge driver": _merge_driver,
}
