"""Messages of programs with their translations, from the gettext catalogues and manual pages of Debian packages."""

from __future__ import annotations

import gettext
import glob
import gzip
import os
import re
import subprocess
from collections import defaultdict

LANGUAGES = {"es": "es", "ja": "ja", "zh_CN": "zh_CN", "zh_Hans": "zh_CN"}
# fmt: off
PACKAGES = (
    "apt", "bash", "binutils-common", "cmake-data", "coreutils", "diffutils", "dpkg", "findutils",
    "flatpak", "gcc-12-locales", "gdb", "gettext", "git", "gnupg-l10n", "grep", "grub-common",
    "libglib2.0-data", "libsvn1", "make", "mercurial-common", "postgresql-15", "postgresql-client-15",
    "python3-django", "sed", "subversion", "systemd", "tar", "util-linux-locales", "wget", "git-man",
    "manpages", "manpages-dev", "manpages-es", "manpages-es-dev", "manpages-ja", "manpages-ja-dev",
    "manpages-zh",
)
# fmt: on
LEAST_CHARACTERS, MOST_CHARACTERS = 20, 300
LEAST_LETTERS = 0.6
PLACEHOLDER = re.compile(r"%(?:\d+\$)?[-+ #0*.\d]*(?:hh|h|ll|l|z|j)?[a-zA-Z]|%\(\w+\)[sd]")
ROFF = re.compile(r"\\f[A-Z]|\\f\(..|\\f\[\w*\]|\\[&%|^/,]|\\s[-+]?\d")

Pair = tuple[str, str]


def fetch_packages(folder: str) -> None:
    """Download the packages and unpack their catalogues and manual pages into a folder."""
    if os.path.isdir(os.path.join(folder, "usr")):
        return
    os.makedirs(folder, exist_ok=True)
    for package in PACKAGES:
        if subprocess.run(["apt-get", "-q", "download", package], cwd=folder, check=False).returncode:
            print(f"package {package} is not to be had: left out", flush=True)
    wanted = ["./usr/share/locale/*", "./usr/share/man/*", "./usr/lib/python3/dist-packages/*/locale/*"]
    for path in sorted(glob.glob(os.path.join(folder, "*.deb"))):
        archive = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True).stdout
        # tar reports the patterns that a package has nothing for.
        subprocess.run(
            ["tar", "-x", "-C", folder, "--wildcards", *wanted],
            input=archive,
            check=False,
            capture_output=True,
        )
        os.remove(path)


def catalogue_pairs(folder: str) -> list[Pair]:
    """Return (English, translation) of the messages that all languages translate."""
    sides: dict[str, dict[str, str]] = defaultdict(dict)
    for directory, language in LANGUAGES.items():
        pattern = os.path.join(folder, "usr", "**", directory, "LC_MESSAGES", "*.mo")
        for path in sorted(glob.glob(pattern, recursive=True)):
            with open(path, "rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog  # noqa: SLF001 (the only way to all of it)
            for message, translation in catalogue.items():
                if isinstance(message, str):
                    sides[_clean(message)].setdefault(language, _clean(str(translation)))
    languages = set(LANGUAGES.values())
    return [
        (message, sides[message][language])
        for message in sorted(sides)
        if _is_prose(message) and sides[message].keys() == languages
        for language in sorted(languages)
        if sides[message][language] not in {"", message}
    ]


def manual_pairs(folder: str) -> list[Pair]:
    """Return (English, translation) of what manual pages say of themselves in their first section."""
    summaries: dict[str, dict[str, str]] = defaultdict(dict)
    for directory, language in {"": "en", **LANGUAGES}.items():
        pattern = os.path.join(folder, "usr", "share", "man", directory, "man*", "*.gz")
        for path in sorted(glob.glob(pattern)):
            if summary := _summary(path):
                summaries[os.path.basename(path)].setdefault(language, summary)
    return [
        (sides["en"], text)
        for _, sides in sorted(summaries.items())
        if "en" in sides
        for language, text in sorted(sides.items())
        if language != "en" and text != sides["en"]
    ]


def _summary(path: str) -> str:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            source = file.read(20_000)
    except (OSError, UnicodeDecodeError):
        return ""
    section = re.search(r"^\.SH[^\n]*\n(.*?)^\.S[Hh]", source, re.MULTILINE | re.DOTALL)
    if section is None or len(section[1]) > 2 * MOST_CHARACTERS:
        return ""
    text = re.sub(r"^[.'].*$", "", section[1], flags=re.MULTILINE)
    _, dash, rest = ROFF.sub("", " ".join(text.split())).partition(r" \- ")
    return _clean(rest.replace("\\-", "-")) if dash else ""


def _clean(text: str) -> str:
    return " ".join(PLACEHOLDER.sub(" ", text).replace("_", "").split()).strip(" :'\"")[:MOST_CHARACTERS]


def _is_prose(text: str) -> bool:
    letters = sum(character.isalpha() or character == " " for character in text)
    return len(text) >= LEAST_CHARACTERS and letters >= LEAST_LETTERS * len(text)
