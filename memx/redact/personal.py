"""What is private without being a secret: home folders, the repository's place, e-mails, inner hosts."""

from __future__ import annotations

import re

from memx.redact.finding import Match, personal
from memx.redact.pattern import Pattern, has_any, lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = r"[^\s/\\:*?\"'<>|`,;(){}\[\]&=$]+"
_UNIX_HOME = Pattern(
    rf"(?<![\w.~-])(?:/mnt/[a-z]|/[a-zA-Z])?/(?:home|Users)/(?P<name>{_NAME})(?<![.:])", re.UNICODE
)
_WINDOWS_HOME = Pattern(
    rf"(?<![A-Za-z0-9])[A-Za-z]:(?P<separator>\\{{1,4}}|/{{1,2}})(?:Users|Documents and Settings)"
    rf"(?P=separator)(?P<name>{_NAME})(?<![.:])",
    re.IGNORECASE,
)
_FOLDED_HOME = Pattern(r"(?<=/)-(?:home|Users)-(?P<name>[^-/\s\\]+)")
_SHARED_HOMES = frozenset(
    ("shared", "public", "linuxbrew", "default", "all users", "*", "...", "…", "name", "username")
)
_EMAIL = Pattern(
    r"(?<![\w.+%/@-])(?P<local>[\w.+%-]{1,64})@(?P<domain>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}(?P<tld>[A-Za-z]{2,24}))(?![\w@]|-\w|/v?\d)"
)
_FILE_ENDINGS = frozenset(
    ("png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "py", "js", "ts", "css", "md", "json", "yml", "yaml")
)
_PHONE_WORDS = ("phone", "tel", "mobile", "cell", "fax", "whatsapp", "móvil", "电话", "手机", "電話", "携帯")
"""One of them stands wherever _PHONE matches."""
_PHONE = Pattern(
    r"(?:(?<![\w-])(?:(?:tele|cell|i)?phone|tel|mobile|cell|fax|whatsapp|tel[eé]fono|m[oó]vil|celular)|电话|手机|電話|携帯)"
    r"(?:\s*(?:numbers?|no\.?|nr\.?|is|at|on|号码|号|番号|は|是|n[uú]mero|es|[.:：#=]))*\s*"
    r"(?P<number>\+?\(?\d[\d ()–-]{5,18}\d)(?![\w.-]?\d)",
    re.IGNORECASE,
)
_INTERNATIONAL = Pattern(r"(?<![\w.+-])\+\d{1,3}(?:[ -]\(?\d{2,8}\)?){2,5}(?![\w.-]?\d)")
_DIGITS = (7, 15)
"""How many a telephone number has; the upper bound is ITU-T E.164's."""
_WORLDWIDE = 10
"""How many it has at least where no word says what it is."""
_LOCAL_USERS = frozenset(("git", "hg", "svn"))
_IPV4 = Pattern(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)(?P<mask>/\d{1,2})?")
_IPV6 = Pattern(r"(?<![\w:])(?:fe80|f[cd][0-9a-f]{2})(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.IGNORECASE)
_DOTTED = Pattern(r"\d\.\d{1,3}\.\d")
_LOCAL_IPV6 = Pattern(r"[Ff](?:[Ee]80|[CcDd][0-9A-Fa-f]{2}):")
_VERSION_BEFORE = Pattern(
    r"(?:\bv|version|release|chrome|版本|バージョン|versión|[<>=~^]=?)[ \t:]*\Z", re.IGNORECASE
)
_LAST_OCTET = 255
_PRIVATE_RANGES = ((10, 0, 255), (172, 16, 31), (192, 168, 168), (169, 254, 254), (100, 64, 127))
"""First octet and the range of the second: RFC 1918, 3927 and 6598."""
_KNOWN_RANGES = frozenset(
    ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10")
)
_CLOUD_METADATA = "169.254.169.254"
_HOST = Pattern(
    r"(?<![\w.\\$-])(?<!(?<!/)/)(?P<host>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}"
    r"(?:internal|intranet|intra|corp|lan|localdomain|local|home\.arpa|private))(?![\w-]|\.\w|\()(?P<port>:\d{2,5})?"
)
_ZONES = (".intern", ".intra", ".corp", ".lan", ".local", ".home.arpa", ".private")
"""One of them stands wherever _HOST matches."""
_PUBLIC_INNER = frozenset(
    (
        "host.docker.internal",
        "gateway.docker.internal",
        "metadata.google.internal",
        "cluster.local",
        "kubernetes.docker.internal",
    )
)
_SURE_ZONES = (".corp", ".lan", ".intranet", ".localdomain", ".home.arpa")
_REVERSED = frozenset(
    (
        "com",
        "org",
        "net",
        "io",
        "dev",
        "app",
        "de",
        "jp",
        "cn",
        "android",
        "java",
        "javax",
        "kotlin",
        "sun",
        "jdk",
    )
)
_HOST_WORD = Pattern(
    r"(?:://|@|\b(?:host|hostname|server|machine|node|ssh|scp|ping|curl|dig|nslookup|at|on|from|to|via)"
    r"|主机|服务器|サーバー?|ホスト|servidor|host)[ \t:=\"'`]*\Z",
    re.IGNORECASE,
)


def homes(text: str, home: str) -> Iterator[Match]:
    """Yield home folders, the given one and any that has the usual form; each becomes `~`."""
    if home:
        yield from _folder(text, home, "home-path", "~")
    if "/home/" in text or "/Users/" in text:
        for match in _UNIX_HOME.finditer(text):
            if match.group("name").lower() not in _SHARED_HOMES:
                yield personal("home-path", match.start(), match.end(), "~")
    if ":" in text and has_any(lower(text), ("users", "documents and")):
        for match in _WINDOWS_HOME.finditer(text):
            if match.group("name").lower() not in _SHARED_HOMES:
                yield personal("home-path", match.start(), match.end(), "~")
    for match in _FOLDED_HOME.finditer(text) if "/-" in text else ():
        yield personal("home-path", match.start(), match.end(), "-~")


def roots(text: str, root: str) -> Iterator[Match]:
    """Yield the repository's root folder, which becomes `.`."""
    if root:
        yield from _folder(text, root, "repository-path", ".")


def _folder(text: str, folder: str, kind: str, replacement: str) -> Iterator[Match]:
    spellings = {folder, folder.replace("\\", "/"), folder.replace("\\", "\\\\")}
    for spelling in spellings:
        start = text.find(spelling)
        while start >= 0:
            end = start + len(spelling)
            before = text[max(0, start - 1) : start]
            # `ssh://root@host` and `a/root/b` hold the letters of a home folder and no home folder.
            if (
                before not in ("/", ":")
                and not _is_name_char(before)
                and not _is_name_char(text[end : end + 1])
            ):
                yield personal(kind, start, end, replacement)
            start = text.find(spelling, end)


def _is_name_char(char: str) -> bool:
    return bool(char) and (char.isalnum() or char in "_-~.") and char != "."


def emails(text: str) -> Iterator[Match]:
    """Yield e-mail addresses; `git@host:path`, `logo@2x.png` and user:password@host are none."""
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        if match.group("tld").lower() in _FILE_ENDINGS or match.group("local").lower() in _LOCAL_USERS:
            continue
        before = text[max(0, match.start() - 300) : match.start()].split()
        if (
            before
            and text[match.start() - 1] not in " \t\n"
            and "://" in before[-1]
            and "/" not in before[-1].split("://")[-1]
        ):
            continue
        yield personal("email", match.start(), match.end(), "<email>")


def phones(text: str) -> Iterator[Match]:
    """Yield telephone numbers: digits behind a word for a telephone, or in the international form."""
    if "+" in text:
        for match in _INTERNATIONAL.finditer(text):
            if sum(map(str.isdigit, match.group())) >= _WORLDWIDE:
                yield personal("phone", match.start(), match.end(), "<phone>")
    if has_any(lower(text), _PHONE_WORDS):
        for match in _PHONE.finditer(text):
            if _DIGITS[0] <= sum(map(str.isdigit, match.group("number"))) <= _DIGITS[1]:
                yield personal("phone", match.start("number"), match.end("number"), "<phone>")


def addresses(text: str) -> Iterator[Match]:
    """Yield addresses of private networks; loopback, public and whole well-known ranges stay."""
    for match in _IPV4.finditer(text) if _DOTTED.search(text) else ():
        if match.group() in _KNOWN_RANGES or match.group() == _CLOUD_METADATA:
            continue
        end = match.start("mask") if match.group("mask") else match.end()
        if _is_private(text[match.start() : end]) and not _VERSION_BEFORE.search(
            text[max(0, match.start() - 12) : match.start()]
        ):
            yield personal("private-address", match.start(), end, "<ip>")
    if ":" in text and _LOCAL_IPV6.search(text):
        for match in _IPV6.finditer(text):
            if not match.group().lower().endswith("::"):
                yield personal("private-address", match.start(), match.end(), "<ip>")


def _is_private(address: str) -> bool:
    octets = [int(octet) for octet in address.split(".")]
    return max(octets) <= _LAST_OCTET and any(
        octets[0] == first and low <= octets[1] <= high for first, low, high in _PRIVATE_RANGES
    )


def hosts(text: str) -> Iterator[Match]:
    """Yield names of inner hosts such as `db-01.prod.internal`, not files (`.env.local`) or packages."""
    for match in _HOST.finditer(text) if has_any(text, _ZONES) else ():
        host = match.group("host")
        if _is_inner(
            host.lower(), text[max(0, match.start() - 24) : match.start()], has_port=bool(match.group("port"))
        ):
            yield personal("private-host", match.start("host"), match.end("host"), "<host>")


def _is_inner(host: str, before: str, *, has_port: bool) -> bool:
    labels = host.split(".")
    if host in _PUBLIC_INNER or host.endswith(".svc.cluster.local") or labels[0] in _REVERSED:
        return False
    if has_port or host.endswith(_SURE_ZONES) or _HOST_WORD.search(before):
        return True
    return any(char.isdigit() or char == "-" for char in host) and len(labels) >= 3  # noqa: PLR2004 (machine, zone, top)


def users(text: str, names: Sequence[str]) -> Iterator[Match]:
    """Yield the given user names where they stand alone."""
    for name in names:
        if not name or name not in text:
            continue
        for match in re.finditer(rf"(?<![\w]){re.escape(name)}(?![\w])", text):
            yield personal("user", match.start(), match.end(), "<user>")
