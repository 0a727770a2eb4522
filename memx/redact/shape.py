"""What a token looks like: random, a hash, a placeholder, or a word."""

from __future__ import annotations

import itertools
import re
from math import log2

from memx.redact.pattern import Pattern

_HEX = Pattern(r"(?:0x)?[0-9a-fA-F]{7,128}\Z")
_UUID = Pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_LABELLED_HASH = Pattern(
    r"(?:[A-Za-z]{1,16}[0-9]{0,2}[-_./:])+[0-9a-f]{32,128}\Z|(?:sha(?:1|224|256|384|512)|md5|blake[23][bs]?|h1)[-:=][A-Za-z0-9+/=_-]+\Z",
    re.IGNORECASE,
)
_FILLER = Pattern(r"(?:[xX*.•●?#_-]|0(?=0*\Z)|\\u2022)+\Z")
_VARIABLE = Pattern(r"[$%@]|\{\{|\$\{|<[^>]*>?|\[[A-Za-z_ -]+\]|\{[A-Za-z_.]+\}")
_NAMES = (
    r"passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|credential|api[-_ ]?key|apikey"
    r"|access[-_]?key|private[-_]?key|auth|contraseña|contrasena|clave"
)
_NAMES_A_SECRET = Pattern(_NAMES, re.IGNORECASE)
_PLACEHOLDER_START = Pattern(
    r"(?:your|my|the|a|an|some|any|insert|replace|enter|put|add|change|fake"
    r"|dummy|sample|example|placeholder|todo|fixme|redacted|masked|hidden|test|foo|bar)"
    r"(?:[-_. ]|(?-i:(?<=[a-z])(?=[A-Z]))|\Z)",
    re.IGNORECASE,
)
_PLAIN_VALUES = frozenset(
    """
    none null nil undefined true false yes no on off empty blank missing unset string str text bytes int integer
    bool boolean float number object any optional required char varchar password passwd secret token key value
    changeme change-me changeit example placeholder default invalid valid wrong incorrect correct expired
    set not never always stored saved read sent passed hashed encrypted encoded rotated revoked leaked
    shared checked given taken kept needed used available unavailable unknown the a an in from to by for and or
    too also only still now here there then this that it its visible hidden safe unsafe weak strong short long
    public private same different generated created removed deleted changed reset ignored logged masked redacted
    base64 base32 base58 utf8 utf-8 utf16 utf-16 sha1 sha256 sha-256 sha512 sha-512 md5 bcrypt scrypt argon2
    argon2id pbkdf2
    oauth oauth1 oauth2 http2 http/2 jwt hs256 rs256 es256 x509 x.509 ed25519 p256 aes256 aes-256 aes128 ipv4 ipv6
    bearer basic digest stdin env vault keychain keyring plaintext plain interactive prompt self localhost
    stale old new good bad fine ok okay enough too mandatory sensitive case-sensitive insensitive dead alive compromised
    correct. identical equal longer shorter weaker stronger known unknown blocked locked rejected accepted refused
    limited restricted allowed forbidden bound tied scoped specific temporary permanent static dynamic global local
    vazia nula errada correcta incorrecta secreta pública privada válida inválida igual distinta nueva vieja
    falsch richtig leer gesetzt nötig
    wrong. optional. required. write read-only write-only id name file path length
    """.split()  # noqa: SIM905 (a word list reads better than 150 quoted strings)
)
_WORD_ONLY = Pattern(r"[A-Za-zÀ-ÿ]+(?:[-_'][A-Za-zÀ-ÿ]+)*\Z")
_PARTICIPLE = Pattern(
    r"(?:[a-z]{3,}(?:ed|ing|able|ible|less|ly|ada|ado|ida|ido|oria|orio|ecta|ecto))\Z", re.IGNORECASE
)


def is_hash(token: str) -> bool:
    """Return whether the token is a commit SHA, a UUID, a digest or an integrity hash."""
    return bool(_HEX.match(token) or _UUID.match(token) or _LABELLED_HASH.match(token))


def is_placeholder(value: str) -> bool:
    """Return whether the value only stands for a secret: YOUR_PASSWORD, ${VAR}, xxxx, `<token>`."""
    bare = value.strip("\"'`“”‘’")
    if not bare or _FILLER.match(bare) or bare.lower() in _PLAIN_VALUES:
        return True
    if _is_reference(bare):
        return True
    if not has_digit(bare) and _PLACEHOLDER_START.match(bare) and not _is_saying(bare):
        return True
    return not has_digit(bare) and bool(_NAMES_A_SECRET.search(bare))


def _is_saying(bare: str) -> bool:
    # `my dog has fleas` begins like `my password` and is none.
    return bare.count(" ") > 2 and bare.lower().startswith(("my ", "the ", "a ", "an ", "some "))  # noqa: PLR2004


def _is_reference(bare: str) -> bool:
    # A shell, template or CI variable: `$X`, `${X}`, `%X%`, `{{x}}`, `<x>`. `$ecret1` is none: it has a digit.
    match = _VARIABLE.match(bare)
    if match is None:
        return "${" in bare or "{{" in bare or "$(" in bare
    if bare[0] == "@":
        return False
    if bare[0] == "$" and bare[1:2] not in "{(":
        return bare[1:].replace("_", "").isalpha() or bare[1:].isupper()
    return bare[0] != "%" or bare.endswith("%")


def is_word(value: str) -> bool:
    """Return whether the value is letters only, perhaps with hyphens: no evidence for a secret."""
    return bool(_WORD_ONLY.match(value))


def is_predicate(word: str) -> bool:
    """Return whether a word after "the password is" says something about it instead of giving it."""
    return word.lower() in _PLAIN_VALUES or bool(_PARTICIPLE.match(word))


def has_digit(text: str) -> bool:
    """Return whether the text holds an ASCII digit."""
    return any("0" <= char <= "9" for char in text)


def has_letter(text: str) -> bool:
    """Return whether the text holds a letter."""
    return any(char.isalpha() for char in text)


def entropy(token: str) -> float:
    """Return Shannon's entropy in bits a character."""
    size = len(token)
    counts = [token.count(char) for char in set(token)]
    return -sum(count / size * log2(count / size) for count in counts) if size else 0.0


_RANDOM_LENGTH = 16
_RANDOM_BITS = 2.6
_DENSE_LENGTH = 24


def looks_random(token: str) -> bool:
    """Return whether a token of 16 characters or more has no words in it that a person would write.

    Long camelCase names, dotted paths and kebab-case have few digits, standing
    at the ends of words; keys have digits in the midst of letters.
    """
    if len(token) < _RANDOM_LENGTH or not (has_digit(token) and has_letter(token)):
        return False
    if entropy(token) < _RANDOM_BITS:
        return False
    return _switches(token) * 5 >= len(token)


def _switches(token: str) -> int:
    # Changes between lower case, upper case and digits, a capital before lower case counting once.
    classes = ["d" if "0" <= c <= "9" else "u" if c.isupper() else "l" if c.islower() else "-" for c in token]
    switches = 0
    for before, after in itertools.pairwise(classes):
        if "-" in (before, after) or before == after or (before, after) == ("u", "l"):
            continue
        switches += 1
    return switches
