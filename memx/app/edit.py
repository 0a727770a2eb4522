"""`memx edit`: a bullet goes to the editor as a copy and comes back only when it is valid."""

from __future__ import annotations

import os
import shlex

from memx.app.stores import find_own
from memx.errors import FrontMatterError, MemxError
from memx.record import record

_LAST_RESORT = "vi"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.curate import Settled
    from memx.app.project import Project
    from memx.model import StoredBullet
    from memx.store.store import Store


@record
class Edited:
    """The bullet that holds the text afterwards, whether anything changed, and what the Curator did with a new text."""

    stored: StoredBullet
    is_changed: bool
    settled: Settled | None = None


def edit_in_editor(project: Project, reference: str) -> Edited:
    """Edit a bullet; a changed text goes through the Curator as a new one does.

    The edited text is kept in the state folder when it does not parse, so that
    no keystroke is lost. Raises FrontMatterError with its line then.
    """
    import tempfile

    store = project.store
    stored = find_own(project, reference)
    path = os.path.join(store.root, stored.path)
    with open(path, "rb") as stream:
        before = stream.read()
    folder = os.path.join(project.state_dir, "edit")
    os.makedirs(folder, exist_ok=True)
    handle, copy = tempfile.mkstemp(prefix=f"{stored.bullet.id}-", suffix=".md", dir=folder)
    with os.fdopen(handle, "wb") as stream:
        stream.write(before)
    _open_editor(project, copy)
    with open(copy, "rb") as stream:
        after = stream.read()
    if after == before:
        os.unlink(copy)
        return Edited(stored, is_changed=False)
    written = _take_back(store, stored.path, after, copy)
    os.unlink(copy)
    if written.bullet.text == stored.bullet.text:
        return Edited(written, is_changed=True)
    from memx.app.curate import settle_text

    settled = settle_text(project, written)
    return Edited(settled.stored, is_changed=True, settled=settled)


def _take_back(store: Store, path: str, data: bytes, copy: str) -> StoredBullet:
    try:
        return store.replace_document(path, data)
    except MemxError as error:
        error.hint = f"your text is kept in {copy}"
        raise


def edit_text(project: Project, text: str) -> str:
    """Return a text as the person left it in the editor; what is no UTF-8 is kept and named in MemxError."""
    import tempfile

    from memx.document import decode_text

    handle, copy = tempfile.mkstemp(suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text + "\n")
    try:
        _open_editor(project, copy)
        with open(copy, "rb") as stream:
            data = stream.read()
        text = decode_text(data, copy).strip()
    except FrontMatterError:
        raise  # The text stays where the error says.
    except BaseException:
        os.unlink(copy)
        raise
    os.unlink(copy)
    return text


def _open_editor(project: Project, path: str) -> None:
    import subprocess

    editor = named_editor(project) or _LAST_RESORT
    try:
        command = [*shlex.split(editor), path]
    except ValueError as error:
        raise MemxError(
            f"cannot read the editor's command {editor!r} ({error})", hint="set EDITOR"
        ) from error
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise MemxError(f"cannot start the editor {command[0]!r}", hint="set EDITOR") from error
    if status != 0:
        raise MemxError(f"the editor ended with {status}; nothing was changed", path=path)


def named_editor(project: Project) -> str:
    """Return the editor that the environment names, empty when it names none."""
    found = (project.environ.get(name) for name in ("GIT_EDITOR", "VISUAL", "EDITOR"))
    return next(filter(None, found), "")
