"""Which embedding model is used, and whether its files are whole.

The bundled model carries a manifest with the size and SHA-256 of each file.
Opening compares sizes (a stat each); `verify_model` compares the hashes. A
model of the user's own gets a manifest and a vocabulary map in the cache.
Nothing here or below it ever asks the network.
"""

from __future__ import annotations

import os

from memx.errors import ModelUnavailableError
from memx.record import record
from memx.resources import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memx.config import EmbeddingConfig

BUNDLED = "bundled"
MODEL_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "config.json"
MAP_FILE = "vocabulary.map"
CALIBRATION_FILE = "calibration.txt"
MANIFEST_FILE = "manifest.txt"

_MANIFEST_HEAD = "memx-model 1"
_REQUIRED = (CONFIG_FILE, MODEL_FILE, TOKENIZER_FILE)
_OPTIONAL = (CALIBRATION_FILE, MAP_FILE)
_HASH_DIGITS = 16


@record
class ModelFile:
    """One file of a model as it was measured."""

    name: str
    size: int
    sha256: str
    modified_ns: int = 0
    """0: not compared, an installer may set it."""


@record
class ModelInfo:
    """A model that is there; `fingerprint` changes whenever its vectors could."""

    dir: str
    id: str
    revision: str
    dimension: int
    tokenizer_hash: str
    fingerprint: str
    files: tuple[ModelFile, ...] = ()


def load_model_info(config: EmbeddingConfig, *, trusted: bool = False, cache_dir: str = "") -> ModelInfo:
    """Return the configured model.

    `trusted` says that the user approved this value of `embedding.model`; any
    value but `bundled` needs it. A hub name is looked up among the models that
    were downloaded to `cache_dir` on request. Raises ModelUnavailableError.
    """
    folder = model_folder(config.model, trusted=trusted, cache_dir=cache_dir)
    if folder == resource("model"):
        return _parse_manifest(_read_manifest(folder), folder)
    missing = [name for name in _REQUIRED if not os.path.isfile(os.path.join(folder, name))]
    if missing:
        raise ModelUnavailableError(f"embedding model has no {missing[0]}", path=folder)
    return _own_model_info(folder, cache_dir)


def model_folder(model: str, *, trusted: bool, cache_dir: str) -> str:
    """Return the folder that a value of `embedding.model` means; raises ModelUnavailableError."""
    if model == BUNDLED:
        return resource("model")
    if not trusted:
        raise ModelUnavailableError(f"embedding model {model!r} is not trusted here", hint="memx trust")
    folder = os.path.abspath(os.path.expanduser(model))
    if os.path.isdir(folder):
        return folder
    downloaded = download_folder(model, cache_dir)
    if cache_dir and os.path.isdir(downloaded):
        return downloaded
    raise ModelUnavailableError(
        f"embedding model {model!r} is neither a folder nor downloaded",
        hint=_missing_hint(model),
    )


def reads_as_path(model: str) -> bool:
    """Say whether a value of `embedding.model` can be no name of the hub, which has at most one slash."""
    return model.startswith(("/", "~", ".", "\\")) or os.path.isabs(model) or model.count("/") > 1


def _missing_hint(model: str) -> str:
    """Return the remedy: what reads as a path can only be mended, a name of the hub can be downloaded."""
    settle = "set embedding.model to a folder that exists, or to `bundled`"
    return settle if reads_as_path(model) else f"memx trust --download, or {settle}"


def download_folder(name: str, cache_dir: str) -> str:
    """Return where a model of the hub is kept once the user asked for it."""
    return os.path.join(cache_dir, "models", name.replace("\\", "/").replace("/", "--"))


def derived_folder(model_dir: str, cache_dir: str) -> str:
    """Return where the map and manifest of a model are: beside the bundled one, else in the cache."""
    if model_dir == resource("model") or not cache_dir:
        return model_dir
    from hashlib import sha256

    name = sha256(os.path.abspath(model_dir).encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(cache_dir, "models", "derived", name[:_HASH_DIGITS])


def verify_model(info: ModelInfo) -> list[str]:
    """Return what is wrong with the model's files, by their full hashes."""
    problems = []
    for expected in info.files:
        path = os.path.join(info.dir, expected.name)
        try:
            found = _sha256_of(path)
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
            continue
        if found != expected.sha256:
            problems.append(f"{path}: SHA-256 is {found}, expected {expected.sha256}")
    return problems


def check_own_model(info: ModelInfo) -> list[str]:
    """Return what keeps a model of the user's own from being used: its files are read as every user reads them.

    They were measured as they are, so their hashes say nothing. A manifest beside
    them, from a copy of the bundled model, is held against them.
    """
    from memx.index.dense.bulk import open_model
    from memx.index.dense.calibration import load_table

    problems = []
    for check in (_check_manifest, load_table, open_model):
        try:
            check(info.dir)
        except ModelUnavailableError as error:
            problems.append(str(error))
    return problems


def _check_manifest(folder: str) -> None:
    if os.path.lexists(os.path.join(folder, MANIFEST_FILE)):
        damaged = verify_model(_parse_manifest(_read_manifest(folder), folder))
        if damaged:
            raise ModelUnavailableError(damaged[0])


def measure_files(
    folder: str, *, optional: Iterable[str] = _OPTIONAL, times: bool = False
) -> list[ModelFile]:
    """Return size and hash of every file of a model."""
    files = []
    for name in sorted((*_REQUIRED, *optional)):
        path = os.path.join(folder, name)
        if name in _REQUIRED or os.path.exists(path):
            status = os.stat(path)
            files.append(
                ModelFile(name, status.st_size, _sha256_of(path), status.st_mtime_ns if times else 0)
            )
    return files


def format_manifest(model_id: str, files: Iterable[ModelFile]) -> str:
    """Return the manifest's text: one file a line."""
    lines = [_MANIFEST_HEAD, f"id {model_id}"]
    lines += [f"file {f.name} {f.size} {f.modified_ns} {f.sha256}" for f in files]
    return "\n".join(lines) + "\n"


def _read_manifest(folder: str) -> str:
    path = os.path.join(folder, MANIFEST_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelUnavailableError(
            "embedding model is missing or damaged", path=path, hint="install git-memx again"
        ) from error


def _parse_manifest(text: str, folder: str) -> ModelInfo:
    """Return what the manifest says, having compared each file's size and time."""
    head, *lines = text.splitlines() or [""]
    model_id, files = "", []
    if head != _MANIFEST_HEAD:
        raise ModelUnavailableError("model manifest has an unknown format", path=folder)
    try:
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "id":
                model_id = rest
            elif word == "file":
                name, size, modified_ns, sha256 = rest.split(" ")
                files.append(ModelFile(name, int(size), sha256, int(modified_ns)))
        hashes = {file.name: file.sha256 for file in files}
        revision, tokenizer_hash = hashes[MODEL_FILE], hashes[TOKENIZER_FILE]
    except (ValueError, KeyError) as error:
        raise ModelUnavailableError("model manifest is damaged", path=folder) from error
    for file in files:
        _check_unchanged(folder, file)
    return _info(folder, model_id, revision, tokenizer_hash, tuple(files))


def _check_unchanged(folder: str, expected: ModelFile) -> None:
    path = os.path.join(folder, expected.name)
    try:
        status = os.stat(path)
    except OSError as error:
        raise ModelUnavailableError("embedding model is missing", path=path) from error
    if status.st_size != expected.size or expected.modified_ns not in (0, status.st_mtime_ns):
        raise ModelUnavailableError("embedding model was changed", path=path, hint="memx doctor")


def _info(
    folder: str, model_id: str, revision: str, tokenizer_hash: str, files: tuple[ModelFile, ...]
) -> ModelInfo:
    dimension = read_dimension(os.path.join(folder, MODEL_FILE))
    revision, tokenizer_hash = revision[:_HASH_DIGITS], tokenizer_hash[:_HASH_DIGITS]
    fingerprint = f"{model_id}@{revision}/{dimension}/{tokenizer_hash}"
    return ModelInfo(folder, model_id, revision, dimension, tokenizer_hash, fingerprint, files)


def read_dimension(path: str) -> int:
    """Return the number of components of the model's vectors, from the file's header."""
    from memx.index.dense.tensors import read_tensors

    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            size = file.tell()
            file.seek(0)
            head = file.read(8)
            data = head + file.read(min(int.from_bytes(head, "little"), size))
    except OSError as error:
        raise ModelUnavailableError("embedding model cannot be read", path=path) from error
    tensors = read_tensors(memoryview(data), path, total=size)
    if "embeddings" not in tensors:
        raise ModelUnavailableError("embedding model has no tensor `embeddings`", path=path)
    return tensors["embeddings"].shape[1]


def _own_model_info(folder: str, cache_dir: str) -> ModelInfo:
    """Return the info of a model that memx does not ship, measuring it once per change."""
    derived = derived_folder(folder, cache_dir)
    if derived != folder:
        try:
            return _parse_manifest(_read_manifest(derived), folder)
        except ModelUnavailableError:
            pass
    model_id = os.path.basename(folder) or folder
    text = format_manifest(model_id, measure_files(folder, optional=(CALIBRATION_FILE,), times=True))
    if derived != folder:
        write_derived(derived, {MANIFEST_FILE: text.encode()})
    return _parse_manifest(text, folder)


def write_derived(folder: str, contents: Mapping[str, bytes]) -> bool:
    """Write cache files, each by rename; False when the cache cannot be written."""
    try:
        os.makedirs(folder, exist_ok=True)
        for name, data in contents.items():
            path = os.path.join(folder, name)
            temporary = f"{path}.{os.getpid()}.tmp"
            with open(temporary, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
    except OSError:
        return False
    return True


def _sha256_of(path: str) -> str:
    from hashlib import file_digest

    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()
