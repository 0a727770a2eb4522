"""Secrets known by the word beside them: `DB_PASSWORD=x`, "the password is x", 密码是 x."""

from __future__ import annotations

import re

from memx.redact.finding import Match, secret
from memx.redact.pattern import Pattern, has_any, has_long_word, lower
from memx.redact.phrases import is_passphrase, passphrases
from memx.redact.shape import (
    has_digit,
    has_letter,
    is_hash,
    is_placeholder,
    is_predicate,
    is_word,
    looks_random,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STRONG_WORDS = (
    r"password|passwd|passwort|kennwort|pass[ -]?phrase|passcode|passwrd|pwd"
    r"|contraseña|contrasena|contraseñas|senha|mot de passe|пароль|пароля"
)
_WEAK_WORDS = (
    r"secret[_. -]?access[_. -]?key|secret[_. -]?key(?:[_. -]?base)?|client[_. -]?secret|signing[_. -]?(?:key|secret)"
    r"|api[_. -]?(?:key|secret|token)|access[_. -]?(?:key|token)(?:[_. -]?id)?"
    r"|auth[_. -]?(?:key|token)|encryption[_. -]?key"
    r"|private[_. -]?key|license[_. -]?key|account[_. -]?key|master[_. -]?key|deploy[_. -]?key|webhook[_. -]?secret"
    r"|bearer[_. -]?token|refresh[_. -]?token|session[_. -]?(?:token|key)|credentials?|secret|token|clave|secreto"
)
_SHORT_NAMES = (
    r"(?<=[_-])pass(?![a-z])|(?<![a-z])(?:pass|pw|psw)(?=[\"']?[ \t]*=|[\"']:|:[ \t]*[A-Za-z]+[0-9#!$%&])"
)
_KEY_WORD = Pattern(rf"({_STRONG_WORDS}|{_SHORT_NAMES})|({_WEAK_WORDS})")
"""For lower-case text: there the engine skips what no word begins with, which takes a third of the time."""
_KEY_PARTS = (
    "pass", "pwd", "pw", "psw", "wort", "contrase", "clave", "senha", "парол", "secret", "token", "key", "credential",
)  # fmt: skip
"""One of them stands in every key word."""
_VALUE = r"[!#-&(-;=?-\[\]-_a-~À-ɏЀ-ӿ]"
_QUOTED = r"\\?[\"'`“‘«](?P<quoted>[^\"'`“”‘’«»\n\\]{1,500})\\?[\"'`”’»]"
_PLAIN = rf"(?P<plain>{_VALUE}{{1,500}})"
_BREAK = r"[ \t]*(?:\n[ \t>]*)?"
_AFTER_SIGN = Pattern(
    rf"\\?[\"'`\]*_]{{0,3}}[ \t]*(?P<sign>:=|=>|==?|:|\|)[ \t]*(?:\n[ \t]+)?[*`]{{0,2}}(?:{_QUOTED}|{_PLAIN})"
)
_AFTER_FLAG = Pattern(rf"[ \t]+(?:{_QUOTED}|{_PLAIN})")
_AFTER_VERB = Pattern(
    rf"[\"'`]?(?P<what>[ \t]+(?:for|of|to|on|in|at|del?|de la|para|pour|für|is now|value)"
    rf"[ \t][^\n\"'`:=]{{1,50}}?(?=[ \t\n:=–—→⇒是为は])|[ \t]+\w{{2,16}}(?=[ \t]*[:=])"
    rf"|[ \t]+(?:I|we|you|they)(?:[ \t]+\w{{2,12}}){{1,2}}(?=[ \t]*[:=]))?{_BREAK}"
    r"(?P<verb>\b(?:(?:is|was|were|has been|got|being) (?:now )?(?:changed|set|reset|rotated|updated) to"
    r"|is|was|are|=|:|es|era|será|ist|lautet|est|é|это"
    r"|is now|is set to|set to|to|changed to|as|should be|must be|called)\b|->|[:=–—→⇒是为は-]+)"
    rf"(?:[ \t]*:|[ \t]+(?:now|still|currently|always|just|ahora)\b)?{_BREAK}(?:{_QUOTED}|{_PLAIN})",
    re.IGNORECASE,
)
_FROM_TO = Pattern(
    rf"[^\n]{{0,40}}?\bfrom[ \t]+[\"'`]?({_VALUE}+)[\"'`]?[ \t]+to[ \t]+[\"'`]?({_VALUE}+)", re.IGNORECASE
)
_DIRECT = Pattern(rf"(?=[\s(\[\"'`“])[ \t]*{_BREAK}[(\[]?(?:{_QUOTED}|{_PLAIN})")
_CJK_PASSWORD = Pattern(r"密码|密碼|口令|暗号|暗証番号|パスワード|パスフレーズ|パスコード|비밀번호|암호")
_CJK_TOKEN = Pattern(
    r"密钥|密鑰|秘钥|私钥|令牌|秘密鍵|アクセスキー|APIキー|キー|トークン|シークレット|토큰|키"
)
_CJK_TIGHT = Pattern(
    r"(?:[ \t]*(?:就是|应该是|現在是|现在是|是|为|為|叫|改成|改为|改為|设为|設為|设成|设置为"
    r"|は|が|を|：|:|=|은|는|이|가))?[：:=]?[ \t\n]*"
    r"(?:[「『\"'`“]{1,2}(?P<quoted>[!-~](?:[ -~]{0,198}?[!-~])??)[」』\"'`”]|(?P<plain>[!-~]{3,200}))"
)
_CJK_LOOSE = Pattern(r"[^\x00-\x7f。；！？]{0,10}[：:=]?[ \t]*[「『\"'`“]?(?P<plain>[!-~]{4,200})")
_HEADER = Pattern(
    r"\b(?P<scheme>Bearer|Basic|Digest|(?<=Authorization: )(?:Token|ApiKey)|(?<=Authorization:)(?:Token|ApiKey))"
    r"[ \t]+(?P<plain>[A-Za-z0-9._~+/=-]{6,2000})",
    re.IGNORECASE,
)
_SCHEMES = ("bearer", "basic", "digest", "authorization:")
_USER_FLAG = Pattern(
    r"(?<![\w-])(?:-u|--user|--proxy-user)[ =]+[\"']?[^\s:\"']{1,100}:(?P<plain>[^\s\"'`<>\\]{1,200})"
)
_SSHPASS = Pattern(r"\bsshpass[ \t]+-p[ \t]*(?:\"|')?(?P<plain>[^\s\"']{1,200})")
_IDENTIFIED_BY = Pattern(r"\b(?:IDENTIFIED[ \t]+BY|PASSWORD)[ \t]+'(?P<plain>[^'\n]{1,200})'", re.IGNORECASE)
_PIPED = Pattern(r"\becho[ \t]+[\"']?(?P<plain>[^\s\"'|]{1,200})[\"']?[ \t]*\|[ \t]*sudo[ \t]+-S")
_CLIENT = Pattern(
    r"\b(?:(?:mysql|mariadb)[a-z]*\b[^\n|;&]{0,100}?[ \t]-p"
    r"|redis-cli\b[^\n|;&]{0,100}?[ \t]-a[ \t]+)(?P<plain>[^\s\"'`-][^\s\"'`]{2,200})"
)
_REVERSED = Pattern(
    r"(?P<plain>[!#-&(-;=?-\[\]-_a-~]{5,100})[ \t]+is"
    r"[ \t]+(?:the|our|my)[ \t](?:[\w-]+[ \t]){0,3}(?:password|passphrase)\b"
)
_NETRC = Pattern(r"\blogin[ \t\n]+\S{1,100}[ \t\n]+password[ \t\n]+(?P<plain>\S{1,200})")
_COOKIE = Pattern(
    r"\b(?:[a-z_.-]*sess(?:ion)?(?:[_-]?id)?|sid|csrftoken|xsrf-token)=(?P<plain>[A-Za-z0-9%._~+/=-]{16,})",
    re.IGNORECASE,
)
_COOKIE_NAMES = ("sess", "sid=", "csrftoken=", "xsrf-token=")
_SHORTEST_BESIDE = 20
_BESIDE = Pattern(rf"(?<![A-Za-z0-9_./+=-])[A-Za-z0-9_+/=.~-]{{{_SHORTEST_BESIDE},300}}(?![A-Za-z0-9_])")
_NEAR_KEY = Pattern(
    r"(?:\bkeys?\b|token|secret|credential|passw|\bauth|密钥|密码|令牌|秘钥|口令|キー|トークン|パスワード|\bclave|contraseña|_KEY\b|Key\b)",
    re.IGNORECASE,
)
_HASH_WORD = Pattern(
    r"commit|sha|hash|digest|checksum|etag|integrity|blob|md5|fingerprint|idempot|public|primary|partition|foreign|trace|revision|\brev\b|tree|object|cache|提交|哈希|ハッシュ|コミット",
    re.IGNORECASE,
)
_NEAR_CHARS = 48
_FLAG_CHARS = 60
_MIN_TOKEN = 8
_MIN_SIGNED = 6
_MIN_PASSWORD = 3
_MIN_NEIGHBOUR = 6
_HEX_KEY = 24


def assignments(text: str) -> Iterator[Match]:
    """Yield values that a key-like word names: by sign, flag, verb, header, or directly after it."""
    lowered = lower(text)
    yield from _named(text, lowered)
    yield from _cjk(text)
    yield from _headers(text, lowered)
    yield from _by_form(text, lowered)
    yield from _beside(text)
    yield from passphrases(text, lowered)


def _named(text: str, lowered: str) -> Iterator[Match]:
    for key in _KEY_WORD.finditer(lowered) if has_any(lowered, _KEY_PARTS) else ():
        if _is_inside_word(text, key):
            continue
        is_password = key.group(1) is not None
        kind = "password" if is_password else "token"
        for match, trust in _values(text, key):
            group = "quoted" if match.group("quoted") is not None else "plain"
            start, end = _trimmed(text, *match.span(group), quoted=group == "quoted")
            if start < end and _is_secret(text, key, start, end, is_password=is_password, trust=trust):
                yield secret(kind, start, end)
                break
        moved = _FROM_TO.match(text, key.end()) if is_password else None
        if moved:
            for number in (1, 2):
                start, end = _trimmed(text, *moved.span(number), quoted=False)
                if start < end and _is_strong(text[start:end]):
                    yield secret(kind, start, end)


def _is_inside_word(text: str, key: re.Match[str]) -> bool:
    # `tokenizer`, `keyless`, `password_hash`, `tokens` and `secretary` name no secret.
    after = text[key.end() : key.end() + 1]
    if (
        after.isalnum()
        and after.isascii()
        and not (after.isdigit() and not text[key.end() + 1 : key.end() + 2].isalpha())
    ):
        return True
    if after in ("_", "-") and text[key.end() + 1 : key.end() + 2].isalpha():
        return True
    before = text[key.start() - 1 : key.start()]
    return (
        before.isalpha() and before.isascii() and text[key.start()].islower() and not _is_compound(text, key)
    )


_COMPOUNDS = (
    "pg",
    "db",
    "my",
    "user",
    "root",
    "admin",
    "ssh",
    "ftp",
    "auth",
    "id",
    "access",
    "bearer",
    "mysql",
)


def _is_compound(text: str, key: re.Match[str]) -> bool:
    word = ""
    place = key.start() - 1
    while place >= 0 and text[place].isalpha() and len(word) <= max(map(len, _COMPOUNDS)):
        word = text[place].lower() + word
        place -= 1
    return word in _COMPOUNDS


_BY_SIGN = "sign"
_BY_FLAG = "flag"
_BY_VERB = "verb"
_BY_NEIGHBOUR = "neighbour"


def _values(text: str, key: re.Match[str]) -> Iterator[tuple[re.Match[str], str]]:
    place = key.end()
    while place < len(text) and text[place].isdigit():
        place += 1
    if match := _AFTER_SIGN.match(text, place):
        yield match, _BY_SIGN
    if _is_flag(text, key.start()) and (match := _AFTER_FLAG.match(text, place)):
        yield match, _BY_FLAG
    if match := _AFTER_VERB.match(text, place):
        yield match, _BY_VERB
    if match := _DIRECT.match(text, place):
        yield match, _BY_NEIGHBOUR


def _is_flag(text: str, start: int) -> bool:
    word_start = (
        max(
            text.rfind(char, max(0, start - _FLAG_CHARS), start)
            for char in (" ", "\n", "\t", '"', "'", "`", "(")
        )
        + 1
    )
    return text.startswith("-", word_start)


_CLOSING = ".,;:!?)]}，。；、）】」』|*"


def _trimmed(text: str, start: int, end: int, *, quoted: bool) -> tuple[int, int]:
    if quoted:
        return start, end
    value = text[start:end]
    for stop in (", ", ",\n", "; ", "&"):
        cut = value.find(stop)
        if cut > 0 and (stop != "&" or "=" in value[cut:]):
            value = value[:cut]
    cut = value.find(",")
    if cut > 0 and ("=" in value[cut:] or not value[cut + 1 :].isascii()):
        value = value[:cut]
    while (
        value
        and value[-1] in _CLOSING
        and not (value[-1] == ")" and "(" in value)
        and not (value[-1] == "}" and "{" in value)
    ):
        value = value[:-1]
    return start, start + len(value)


def _is_secret(text: str, key: re.Match[str], start: int, end: int, *, is_password: bool, trust: str) -> bool:
    value = text[start:end]
    if is_placeholder(value) or _is_code(text, value, end):
        return False
    if is_password:
        return _is_password(text, key, start, end, trust)
    if trust == _BY_SIGN and _is_env_name(text, key) and not value.isdigit() and not is_hash(value):
        return len(value) >= (_MIN_SIGNED if has_digit(value) else _MIN_TOKEN)
    return _is_token(text, value, start, trust)


_CALL = Pattern(r"[A-Za-z_][\w.]*[(\[]")
_DOTTED = Pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_PATH = Pattern(
    r"(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]*)*\Z|[A-Za-z0-9_.-]+(?:/[A-Za-z_.-][\w.-]*){2,}\Z|\w+\.(?:txt|ya?ml|json|env|py|js|ts|md|pem|key|toml)\Z"
)
_URL = Pattern(r"[a-z][a-z0-9+.-]*://")


def _is_code(text: str, value: str, end: int) -> bool:
    # An expression, a path or a link says where the secret is, not what it is.
    if _CALL.match(value) or _URL.match(value) or value.startswith(("(", "[", "{", "--", "==", "/:")):
        return True
    if text[end : end + 1] in ("(", "["):
        return True
    if _DOTTED.match(value) and not has_digit(value):
        return True
    return bool(_PATH.match(value)) and not looks_random(value)


def _is_strong(value: str) -> bool:
    # Letters with digits, or with a mark that ordinary words lack.
    if is_placeholder(value) or is_predicate(value) or _VERSION.match(value):
        return False
    return has_letter(value) and (has_digit(value) or any(char in "!#$%^&*@+" for char in value))


_VERSION = Pattern(r"v?\d+(?:\.\d+)*(?:[a-z]{1,3})?\Z", re.IGNORECASE)


def _is_password(text: str, key: re.Match[str], start: int, end: int, trust: str) -> bool:
    value = text[start:end]
    if len(value) < _MIN_PASSWORD or (is_predicate(value) and trust != _BY_SIGN):
        return False
    if trust == _BY_NEIGHBOUR:
        is_quoted = _is_quoted(text, start)
        return (is_quoted and is_passphrase(value)) or (
            _is_strong(value) and (is_quoted or len(value) >= _MIN_NEIGHBOUR)
        )
    if trust == _BY_VERB:
        if _is_strong(value) or _is_quoted(text, start) or (value.isdigit() and len(value) >= 4):  # noqa: PLR2004 (a PIN)
            return True
        return (
            is_word(value)
            and len(value) > _MIN_PASSWORD
            and _ends_clause(text, end)
            and not _breaks_line(text, key.end(), start)
        )
    if is_word(value) and trust == _BY_SIGN:
        return (
            _is_env_name(text, key)
            or _is_quoted(text, start)
            or (_ends_clause(text, end) and len(value) > _MIN_PASSWORD)
        )
    return True


def _breaks_line(text: str, start: int, end: int) -> bool:
    return "\n" in text[start:end]


def _is_quoted(text: str, start: int) -> bool:
    return text[start - 1 : start] in ('"', "'", "`", "“", "‘", "«")


def _ends_clause(text: str, end: int) -> bool:
    rest = text[end : end + 2]
    return not rest or (rest[0] in ".,;!\n\"'`)），。、" and (len(rest) == 1 or not rest[1].isalnum()))


def _is_env_name(text: str, key: re.Match[str]) -> bool:
    return text[key.start() : key.end()].isupper() and text[key.end() : key.end() + 1] == "="


def _is_token(text: str, value: str, start: int, trust: str) -> bool:
    if len(value) < (_MIN_SIGNED if trust == _BY_SIGN else _MIN_TOKEN) or (
        not has_letter(value) and len(value) < 2 * _MIN_TOKEN
    ):
        return False
    if is_hash(value):
        named_hash = _HASH_WORD.search(text[max(0, start - _NEAR_CHARS) : start])
        return (
            len(value) >= (_HEX_KEY if trust == _BY_NEIGHBOUR else _HEX_KEY // 2)
            and not named_hash
            and ":" not in value
            and (trust != _BY_NEIGHBOUR or "-" not in value)
        )
    if " " in value:
        return trust in (_BY_SIGN, _BY_VERB) and is_passphrase(value)
    if trust == _BY_SIGN and _is_quoted(text, start) and has_digit(value) and " " not in value:
        return not (_VERSION.match(value) or _is_kebab(value))
    if trust == _BY_NEIGHBOUR:
        return looks_random(value)
    return has_digit(value) and not _VERSION.match(value) and not _is_kebab(value)


_KEBAB = Pattern(r"[A-Za-z]+(?:[-_./:][A-Za-z]+)*(?:[-_./:]?[0-9]{1,3})?\Z")


def _is_kebab(value: str) -> bool:
    # `refresh-token-v2`, `user:123`: words with a number behind them.
    return bool(_KEBAB.match(value))


def _cjk(text: str) -> Iterator[Match]:
    if text.isascii():
        return
    for words, kind in ((_CJK_PASSWORD, "password"), (_CJK_TOKEN, "token")):
        for key in words.finditer(text):
            match = _CJK_TIGHT.match(text, key.end())
            tight = match is not None
            match = match or _CJK_LOOSE.match(text, key.end())
            if match is None:
                continue
            quoted = tight and match.group("quoted") is not None
            start, end = _trimmed(text, *match.span("quoted" if quoted else "plain"), quoted=quoted)
            if start < end and _is_cjk_secret(text, start, end, kind, tight=tight):
                yield secret(kind, start, end)


def _is_cjk_secret(text: str, start: int, end: int, kind: str, *, tight: bool) -> bool:
    value = text[start:end]
    if is_placeholder(value) or is_predicate(value) or _is_code(text, value, end):
        return False
    if kind == "token":
        return _is_token(text, value, start, _BY_VERB if tight else _BY_NEIGHBOUR)
    if " " in value:
        return is_passphrase(value)
    if _is_strong(value):
        return True
    return tight and len(value) >= 4 and (value.isdigit() or (is_word(value) and _ends_clause(text, end)))  # noqa: PLR2004 (a PIN, a short word)


def _headers(text: str, lowered: str) -> Iterator[Match]:
    for match in _HEADER.finditer(text) if has_any(lowered, _SCHEMES) else ():
        value = match.group("plain")
        if not is_placeholder(value):
            start, end = _trimmed(text, *match.span("plain"), quoted=False)
            if _is_header(text, match.start()) or _is_bearer(match, value):
                yield secret("authorization", start, end, priority=1)


_FORMS = (
    (("-u", "--proxy-u"), _USER_FLAG),
    (("sshpass",), _SSHPASS),
    (("identified", "password"), _IDENTIFIED_BY),
    (("login",), _NETRC),
    (("sudo",), _PIPED),
    (("mysql", "mariadb", "redis-cli"), _CLIENT),
)
"""(lower-case texts of which one stands wherever the pattern matches, pattern)."""


def _by_form(text: str, lowered: str) -> Iterator[Match]:
    for needles, pattern in _FORMS:
        for match in pattern.finditer(text) if has_any(lowered, needles) else ():
            if not is_placeholder(match.group("plain")):
                yield secret("password", *match.span("plain"))
    reverses = "pass" in lowered and " is " in text
    for match in _REVERSED.finditer(text) if reverses else ():
        if _is_strong(match.group("plain")):
            yield secret("password", *match.span("plain"))
    for match in _COOKIE.finditer(text) if "=" in text and has_any(lowered, _COOKIE_NAMES) else ():
        if looks_random(match.group("plain")) or is_hash(match.group("plain")):
            yield secret("session", *match.span("plain"))


def _is_header(text: str, start: int) -> bool:
    return text[max(0, start - 20) : start].lower().rstrip(" :\"'").endswith("authorization")


def _is_bearer(match: re.Match[str], value: str) -> bool:
    if not has_digit(value) and (len(value) < 2 * _MIN_TOKEN or is_word(value)):
        return False
    # "basic auth2" and "digest sha256:…" are prose; a header's value is longer or mixed.
    if match.group("scheme").lower() == "bearer":
        return len(value) >= _MIN_TOKEN and not _VERSION.match(value)
    return (len(value) >= 2 * _MIN_TOKEN and looks_random(value) and not is_hash(value)) or value.endswith(
        "="
    )


def _beside(text: str) -> Iterator[Match]:
    for match in _BESIDE.finditer(text) if has_long_word(text, _SHORTEST_BESIDE) else ():
        token = match.group().rstrip(".~-")
        if not looks_random(token) or is_hash(token):
            continue
        before = text[max(0, match.start() - _NEAR_CHARS) : match.start()]
        if _NEAR_KEY.search(before) and not _HASH_WORD.search(before):
            yield secret("high-entropy", match.start(), match.start() + len(token), priority=-1)
