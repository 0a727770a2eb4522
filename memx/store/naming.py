r"""Ids, slugs and file names: the same on every machine, distinct within a store.

An id is a letter and nine characters of Crockford's base 32 in lower case, made from
d = sha256("memx1\0" + text), where the text is NFKC, case-folded, its white space collapsed:

- first character: the first two bytes of d as a big-endian number, modulo 22, in LETTERS;
- the other nine: the first 45 bits of bytes 2 to 7 of d, five bits each, in ALPHABET.

Where a bullet with the text exists for viewers who cannot see each other, such as another workspace, the second
one's d is of "memx1\0" + text + "\0" + scope.
"""

from __future__ import annotations

import os
import unicodedata

from memx.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.model import Bullet

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LETTERS = ALPHABET[10:]
ID_LENGTH = 10
NAME_LIMIT_BYTES = 100
SLUG_LIMIT_BYTES = 60
FALLBACK_SLUG = "bullet"

_ID_LIMIT_CHARS = 64
_WINDOWS_NAMES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789"))
)
# Marks without a letter, format characters and what is not a character: no word ends there.
_UNSEEN = frozenset(("Mn", "Mc", "Me", "Cf", "Cs", "Co", "Cn"))
# Letters and marks that show nothing: two names that differ in them alone look the same.
_INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x3164, 0xFFA0))
)


def normalise_text(text: str) -> str:
    """Return what two spellings of one lesson share: the form that its id is made from."""
    folded = unicodedata.normalize("NFKC", replace_surrogates(text)).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def bullet_id(text: str, scope: str = "") -> str:
    """Return the id of a lesson, made from its redacted text at birth.

    With `scope`, that of a second bullet with the text, for viewers who do not see the first.
    """
    ending = f"\0{replace_surrogates(scope)}" if scope else ""
    digest = sha256(b"memx1\0" + (normalise_text(text) + ending).encode()).digest()
    first = LETTERS[int.from_bytes(digest[:2], "big") % len(LETTERS)]
    bits = int.from_bytes(digest[2:8], "big") >> 3
    return first + "".join(ALPHABET[(bits >> shift) & 31] for shift in range(40, -1, -5))


def is_id(text: str) -> bool:
    """Say whether a text has the form of an id that memx makes."""
    return len(text) == ID_LENGTH and text[0] in LETTERS and all(c in ALPHABET for c in text[1:])


def is_safe_id(text: str) -> bool:
    """Say whether a text may serve as an id: one that a person typed need not look like ours."""
    plain = text.replace("-", "").replace("_", "")
    return 0 < len(text) <= _ID_LIMIT_CHARS and plain.isascii() and plain.isalnum()


def slug(text: str) -> str:
    """Return a readable, portable name in the script of the text; `bullet` when no letter is left.

    Letters, digits and their marks stay, all else becomes a hyphen; NFC, case-folded,
    at most SLUG_LIMIT_BYTES in UTF-8, cut at a word where one ends in the second half.
    """
    folded = unicodedata.normalize("NFKC", replace_surrogates(text[: 8 * SLUG_LIMIT_BYTES])).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    pieces: list[str] = []
    for character in folded:
        category = unicodedata.category(character)
        is_visible = character not in _INVISIBLE and not "\ufe00" <= character <= "\ufe0f"
        if (category[0] in "LN" or (category[0] == "M" and pieces and pieces[-1] != "-")) and is_visible:
            pieces.append(character)
        elif category not in _UNSEEN and is_visible and pieces and pieces[-1] != "-":
            pieces.append("-")
    name = _cut("".join(pieces).strip("-"), SLUG_LIMIT_BYTES)
    if name in _WINDOWS_NAMES:
        return f"{name}-{FALLBACK_SLUG}"
    return name or FALLBACK_SLUG


def file_name(text: str, identifier: str) -> str:
    """Return `<slug>-<id>.md`, at most NAME_LIMIT_BYTES; distinct for distinct ids on every file system."""
    ending = f"-{identifier}.md"
    room = NAME_LIMIT_BYTES - len(ending)
    return _cut(slug(text), min(room, SLUG_LIMIT_BYTES)) + ending


def bullet_path(bullet: Bullet) -> str:
    """Return the path, below the store's root, at which a bullet is born."""
    return f"bullets/{bullet.section}/{file_name(bullet.title or bullet.text, bullet.id)}"


def id_of_name(path: str) -> str:
    """Return the id that a file name ends in, or an empty string."""
    stem, extension = os.path.splitext(path)
    identifier = stem[-ID_LENGTH:]
    is_ours = extension == ".md" and stem[-ID_LENGTH - 1 : -ID_LENGTH] == "-" and is_id(identifier)
    return identifier if is_ours else ""


def replace_surrogates(text: str) -> str:
    """Return the text with each lone surrogate, which JSON may bring and UTF-8 cannot hold, as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _cut(text: str, limit_bytes: int) -> str:
    """Return the longest beginning within the limit; whole words when one ends in its second half."""
    data = text.encode()
    if len(data) <= limit_bytes:
        return text
    short = data[:limit_bytes].decode(errors="ignore")
    rest = text[len(short) :]
    while short and unicodedata.category(rest[0])[0] == "M":
        # A mark belongs to the letter before it.
        rest = short[-1] + rest
        short = short[:-1]
    hyphen = short.rfind("-")
    if rest[0] != "-" and hyphen > len(short) // 2:
        short = short[:hyphen]
    return short.strip("-")
