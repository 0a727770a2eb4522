"""The canonical form of a file that a person wrote or moved: what `memx fmt` makes."""

from __future__ import annotations

from memx.document import FIELD_KINDS, Document, decode_text
from memx.model import SECTIONS, Bullet
from memx.record import replace
from memx.store.codec import edit_bullet, read_fields
from memx.store.naming import bullet_path, id_of_name

_REQUIRED = frozenset(("id", "section", "type", "score", "scope", "recall_count", "created", "updated"))


def canonical_file(data: bytes, bullet: Bullet, path: str) -> bytes:
    """Return a file with required keys filled in, known fields in canonical form, and keys in order.

    `bullet` is what the file says, with `created` known. Values that memx does not know are kept.
    """
    fields, _ = read_fields(decode_text(data, path), path)
    complete = replace(bullet, updated=bullet.created if bullet.updated is None else bullet.updated)
    changes: dict[str, object] = {}
    for key in FIELD_KINDS:
        value = getattr(complete, key)
        is_foreign_word = key in ("section", "type") and key in fields and _word(fields[key]) != value
        if (key in fields or key in _REQUIRED) and not is_foreign_word:
            changes[key] = value
    return Document.parse(edit_bullet(data, changes, path=path), path).in_canonical_order().to_bytes()


def home_path(path: str, bullet: Bullet, data: bytes) -> str:
    """Return where a file belongs: its section's folder; a name is given only to a file that had no id.

    `data` is the file before it was formatted.
    """
    fields, _ = read_fields(decode_text(data, path), path)
    folder, _, rest = path.partition("/")
    section = fields.get("section")
    if section is not None and _word(section) not in SECTIONS:
        return path
    if not fields.get("id") and not id_of_name(path):
        return folder + "/" + bullet_path(bullet).partition("/")[2]
    return f"{folder}/{bullet.section}/{rest.rpartition('/')[2]}"


def _word(value: object) -> str:
    return str(value).strip().lower()
