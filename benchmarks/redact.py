"""What the sanitizer catches and what it spares.

Two tables: the planted strings of the labelled sessions (none may survive the
sanitising of the raw files), and generated harmless hashes and identifiers in
sentences (fewer than 1 % may be touched). A third one gives the cost.

Run: python benchmarks/redact.py [SESSIONS_FOLDER]
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import sys
import time
import uuid
from typing import TYPE_CHECKING

from memx.redact import PrivacySanitizer

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SESSIONS = os.path.join(os.path.dirname(ROOT), "shared", "eval", "sessions")
SENTENCES = (
    "Revert {} because the migration locked the table.",
    "The build of {} failed, the next one passed.",
    "See {} for the reason.",
    "`{}` must be called before the pool is closed",
    "修复 {} 引入的超时问题。",
    "{} を先に呼ぶ必要がある。",
    "Hay que fijar {} en el fichero de bloqueo.",
    "cache key {} was stale",
    "fixes #12, see {}\nSigned-off-by: the team",
    "lock: {}",
)
WORDS = (
    "user",
    "token",
    "session",
    "password",
    "reset",
    "key",
    "auth",
    "http",
    "request",
    "cache",
    "pool",
    "max",
    "size",
    "handler",
    "secret",
    "manager",
    "retry",
    "get",
    "by",
    "id",
    "client",
    "factory",
    "bean",
    "api",
    "v2",
    "sha256",
)


def commit(rng: random.Random) -> str:
    """Return a full or abbreviated commit hash."""
    return rng.randbytes(20).hex()[: rng.choice((7, 8, 10, 12, 40))]


def digest(rng: random.Random) -> str:
    """Return a SHA-256 digest, bare or labelled."""
    return rng.choice(("", "sha256:", "sha256-")) + hashlib.sha256(rng.randbytes(8)).hexdigest()


def integrity(rng: random.Random) -> str:
    """Return an integrity hash as lock files have it."""
    name, size = rng.choice((("sha512", 64), ("sha384", 48), ("sha256", 32), ("h1:", 32)))
    return name + ("" if name[-1] == ":" else "-") + base64.b64encode(rng.randbytes(size)).decode()


def unique_id(rng: random.Random) -> str:
    """Return a UUID."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def camel(rng: random.Random) -> str:
    """Return a long camelCase or PascalCase name."""
    words = [rng.choice(WORDS) for _ in range(rng.randint(3, 7))]
    name = "".join(word.capitalize() for word in words)
    return rng.choice((name, name[0].lower() + name[1:], name + "()"))


def snake(rng: random.Random) -> str:
    """Return a long snake_case, SCREAMING_CASE, kebab-case or dotted name."""
    name = rng.choice("_-.").join(rng.choice(WORDS) for _ in range(rng.randint(3, 7)))
    return rng.choice((name, name.upper()))


def version(rng: random.Random) -> str:
    """Return a version, a date or an image tag."""
    numbers = [str(rng.randint(0, 40)) for _ in range(3)]
    return rng.choice(
        (
            "v" + ".".join(numbers),
            "2026-11-30T09:12:00Z",
            f"python:3.{numbers[0]}-slim-bookworm",
            f"{'.'.join(numbers)}-rc.1",
        )
    )


def assignment(rng: random.Random) -> str:
    """Return a harmless line of code or configuration around key-like words."""
    return rng.choice(
        (
            "password: ${DB_PASSWORD}",
            "token = get_token(request)",
            "PASSWORD=YOUR_PASSWORD",
            "api_key=os.environ['API_KEY']",
            "max_tokens=4096",
            "token_budget: 2000",
            "password: str | None = None",
            "secret: <your-secret>",
            "primary_key=True",
            "the password is required",
            "the token has expired",
            "password hashing uses argon2id",
            "localhost:5432",
            "http://127.0.0.1:8080/x",
            "secretKeyRef: name",
            "--password-stdin",
            "Authorization: Bearer $TOKEN",
            "key: value",
            "{{ secrets.GITHUB_TOKEN }}",
            "las claves primarias",
            "密码为空时报错",
            "パスワードは必須です",
            "tokenizer.json",
            ".env.local",
            "threading.local()",
        )
    )


GENERATORS: tuple[Callable[[random.Random], str], ...] = (
    commit,
    digest,
    integrity,
    unique_id,
    camel,
    snake,
    version,
    assignment,
)


def planted_table(folder: str, sanitizer: PrivacySanitizer) -> None:
    """Print for each labelled file how many planted strings survive the sanitising of its raw text."""
    print(f"{'file':6} {'planted':>8} {'survive':>8} {'findings':>9}")
    total = survived = 0
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as labels:
        for line in labels:
            label = json.loads(line)
            if not label.get("planted"):
                continue
            with open(
                os.path.join(folder, label["file"]), encoding="utf-8", errors="surrogateescape"
            ) as file:
                redaction = sanitizer.sanitize(file.read())
            left = [
                p
                for p in label["planted"]
                if p in redaction.text or p.replace("\\", "\\\\") in redaction.text
            ]
            total, survived = total + len(label["planted"]), survived + len(left)
            print(f"{label['id']:6} {len(label['planted']):8} {len(left):8} {len(redaction.findings):9}")
    print(f"{'all':6} {total:8} {survived:8}")


def harmless_table(sanitizer: PrivacySanitizer, count: int = 500) -> None:
    """Print for each kind of harmless string how many of its sentences were changed."""
    print(f"\n{'harmless':12} {'strings':>8} {'touched':>8} {'share':>7}")
    rng = random.Random(20261130)
    total = touched = 0
    for generate in GENERATORS:
        changed = []
        for _ in range(count):
            text = rng.choice(SENTENCES).format(generate(rng))
            if (after := sanitizer.sanitize(text).text) != text:
                changed.append((text, after))
        total, touched = total + count, touched + len(changed)
        print(f"{generate.__name__:12} {count:8} {len(changed):8} {len(changed) / count:7.2%}")
        for before, after in changed[:3]:
            print(f"    {before!r} -> {after!r}")
    print(f"{'all':12} {total:8} {touched:8} {touched / total:7.2%}")


def cost_table(sanitizer: PrivacySanitizer) -> None:
    """Print what a plain lesson and one with a token cost."""
    plain = (
        "Redis timeouts under load come from the pool ceiling: set `MAX_POOL_SIZE` to 50; 10 is not enough. "
        * 2
    )
    keyed = plain + "The password is hunter2 and the host db-01.prod.internal."
    print(f"\n{'text':8} {'us a call':>10}")
    for name, text in (("plain", plain), ("keyed", keyed)):
        start = time.perf_counter()
        for _ in range(500):
            sanitizer.sanitize(text)
        print(f"{name:8} {(time.perf_counter() - start) / 500 * 1e6:10.0f}")


def main() -> None:
    """Print the tables."""
    sanitizer = PrivacySanitizer()
    folder = sys.argv[1] if len(sys.argv) > 1 else SESSIONS
    if os.path.exists(os.path.join(folder, "labels.jsonl")):
        planted_table(folder, sanitizer)
    harmless_table(sanitizer)
    cost_table(sanitizer)


if __name__ == "__main__":
    main()
