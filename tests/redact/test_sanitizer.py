"""What the sanitizer takes out, what it leaves, and that it is total and idempotent."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import ConfigError
from memx.redact import PrivacySanitizer

SANITIZER = PrivacySanitizer(
    home="/home/zed", root="/home/zed/src/shop", users=("zed42",), patterns=(r"ACME-\d+",)
)
BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

# Put together at run time, so that no scanner of this repository takes them for real.
TOKENS = {
    "aws-key": "AKIA" + "IOSFODNN7EXAMPLE",
    "google-key": "AIza" + "Sy" + BODY[:33],
    "openai-key": "sk-" + "proj-" + BODY,
    "anthropic-key": "sk-" + "ant-api03-" + BODY,
    "github-token": "ghp" + "_" + BODY[:36],
    "gitlab-token": "glpat" + "-" + BODY[:20],
    "slack-token": "xoxb" + "-123456789012-" + BODY[:24],
    "sendgrid-key": "SG" + "." + BODY[:22] + "." + BODY,
    "stripe-key": "sk" + "_live_" + BODY[:24],
    "npm-token": "npm" + "_" + BODY[:36],
    "pypi-token": "pypi" + "-AgEIcHlwaS5vcmc" + BODY * 2,
    "huggingface-token": "hf" + "_" + BODY[:34],
    "twilio-key": "SK" + "0123456789abcdef" * 2,
    "telegram-token": "123456789" + ":A" + BODY[:34],
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + "." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + BODY,
}


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize(
    "sentence", ["{}", "Use {}.", "令牌是{}，不要提交", "`{}`", 'x = "{}"', "a={}&b=1", "{}\nnext"]
)
def test_provider_token_is_redacted(kind: str, sentence: str) -> None:
    """A token with a provider's prefix is found in every surrounding and named."""
    redaction = SANITIZER.sanitize(sentence.format(TOKENS[kind]))
    assert redaction.text == sentence.format(f"<redacted:{kind}>")
    assert [(f.kind, f.is_secret) for f in redaction.findings] == [(kind, True)]


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("break_at", [6, 11])
@pytest.mark.parametrize("joint", ["\u200b", "\u00ad", "\ufeff", "\n", "\r\n    ", "\\\n  "])
def test_split_token_is_redacted(kind: str, break_at: int, joint: str) -> None:
    """Invisible characters and line breaks in a token do not save it; the finding covers all of it."""
    token = TOKENS[kind]
    text = f"it was {token[:break_at]}{joint}{token[break_at:]} then"
    redaction = SANITIZER.sanitize(text)
    assert token[break_at + 2 :] not in redaction.text
    assert redaction.text.endswith("> then")


@pytest.mark.parametrize("kind", ["aws-key", "github-token", "openai-key", "npm-token", "sendgrid-key"])
@pytest.mark.parametrize("blank", [" ", "  ", "\t"])
def test_token_with_a_blank_in_it_is_redacted(kind: str, blank: str) -> None:
    """A key that a table or an unwrapped line has cut in two goes as a whole."""
    token = TOKENS[kind]
    text = f"it was {token[:13]}{blank}{token[13:]} then"
    assert SANITIZER.sanitize(text).text == f"it was <redacted:{kind}> then"


def test_key_in_groups_is_redacted() -> None:
    """A key written in groups, as a label has it, is a key."""
    token = TOKENS["aws-key"]
    groups = [token[i : i + 4] for i in range(0, len(token), 4)]
    for joint in (" ", "-"):
        assert SANITIZER.sanitize(f"use {joint.join(groups)}.").text == "use <redacted:aws-key>."


def test_full_width_token_is_redacted() -> None:
    """Full-width letters are letters."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in TOKENS["aws-key"])
    assert SANITIZER.sanitize(f"键 {wide}").text == "键 <redacted:aws-key>"
    assert SANITIZER.sanitize("密码：ｈｕｎｔｅｒ２").text == "密码：<redacted:password>"


SECRETS = [
    ("password is hunter2", "hunter2"),
    ("The staging password is correct-mule-battery-42, ok?", "correct-mule-battery-42"),
    ("the password is swordfish.", "swordfish"),
    ("password for the staging database is hunter2", "hunter2"),
    ("log in with password hunter2!x", "hunter2!x"),
    ("password:\n  hunter2", "hunter2"),
    ("we changed the password from Sommer2025 to Winter2026", "Winter2026"),
    ("we changed the password from Sommer2025 to Winter2026", "Sommer2025"),
    ("export DB_PASSWORD=swordfish", "swordfish"),
    ("PGPASSWORD=tr0ub4dor psql", "tr0ub4dor"),
    ("DB_PASSWORD=Gr4nite-Otter-77\\nADMIN=1", "Gr4nite-Otter-77"),
    ('{"password": "open sesame"}', "open sesame"),
    ('"dbPassword" : "Xy12"', "Xy12"),
    ("password = 'quoted#1'", "quoted#1"),
    ("mysql --password hunter2 -u root", "hunter2"),
    ("curl -u admin:s3cret https://x", "s3cret"),
    ("sshpass -p pass1word ssh x", "pass1word"),
    ("CREATE USER a IDENTIFIED BY 'Geheim9'", "Geheim9"),
    ("machine x login y password z9z9z9", "z9z9z9"),
    ("Authorization: Bearer abc123def456", "abc123def456"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw=="),
    ("X-Api-Key: 8fj3kd93jf8dk3jf9", "8fj3kd93jf8dk3jf9"),
    ("the api key is 8fj3kd93jf8dk3jf9", "8fj3kd93jf8dk3jf9"),
    ("api token 5f4dcc3b5aa765d61d8327deb882cf99", "5f4dcc3b5aa765d61d8327deb882cf99"),
    ("client_secret=Zx9-88aQ_1", "Zx9-88aQ_1"),
    ("the deploy key we use: qT7x9Lm2Vb4Rk8Zp1Wn6", "qT7x9Lm2Vb4Rk8Zp1Wn6"),
    ("测试库密码是 Lvse-Qiaoban-2026，账号 geo_ro。", "Lvse-Qiaoban-2026"),
    ("密码改成 Abc12345 了", "Abc12345"),
    ("密钥：9f8e7d6c5b4a39281706f5e4d3c2b1a0", "9f8e7d6c5b4a39281706f5e4d3c2b1a0"),
    ("検証サーバーのパスワードは Yamabuki#4410 です。", "Yamabuki#4410"),
    ("パスワード：「himitsu99」", "himitsu99"),
    ("La contraseña es Tr3s-Gatos-Verdes.", "Tr3s-Gatos-Verdes"),
    ("clave: s3cr3t-value", "s3cr3t-value"),
    ("postgres://app:Tr3s@db/x", "Tr3s"),
    ("redis://:p4ssw0rd@cache:6379/0", "p4ssw0rd"),
    ("https://0123456789abcdef0a1b2c3d4e5f6071@o1.ingest.sentry.io/2", "0123456789abcdef0a1b2c3d4e5f6071"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "b3BlbnNzaC1rZXk"),
    ("see ACME-4711", "ACME-4711"),
    ("the password was changed to Winter2024!", "Winter2024"),
    ("hunter2 is the password", "hunter2"),
    ("DB_PASS=abc", "abc"),
    ("password: admin", "admin"),
    ("password -> hunter2", "hunter2"),
    ("mysql -uroot -phunter2 shop", "hunter2"),
    ("echo hunter2 | sudo -S ls", "hunter2"),
    ("DB1PW=hunter2", "hunter2"),
    ("the password I set: hunter2x", "hunter2x"),
    ("my password\n> hunter2x", "hunter2x"),
    ("The password is\nhunter2x", "hunter2x"),
    ('password is "correct horse battery staple"', "correct horse battery staple"),
    ('use the pass phrase "correct horse battery staple"', "correct horse battery staple"),
    ("passphrase: correct horse battery staple", "correct horse battery staple"),
    ("The passphrase is correct horse battery staple.", "correct horse battery staple"),
    ("PASSPHRASE=correct horse battery staple", "correct horse battery staple"),
    ("password: correct horse battery staple", "correct horse battery staple"),
    ("export PW='my dog has fleas'", "my dog has fleas"),
    ("seed phrase: legal winner thank year wave sausage worth useful", "legal winner thank year"),
    ("密码是 correct horse battery staple", "correct horse battery staple"),
    ("密码是“correct horse battery staple”", "correct horse battery staple"),
    ("パスワードは「correct horse battery staple」です", "correct horse battery staple"),
]


@pytest.mark.parametrize(("text", "value"), SECRETS)
def test_secret_is_redacted(text: str, value: str) -> None:
    """The value goes, what names it stays, and the finding is a secret at its place."""
    redaction = SANITIZER.sanitize(text)
    assert value not in redaction.text
    assert any(f.is_secret and value in text[f.start : f.end] for f in redaction.findings)


PERSONAL = [
    ("open /home/zed/src/shop/a.py", "open ./a.py"),
    ("in /home/zed/.config/x", "in ~/.config/x"),
    ("/home/alice/x and /Users/bob.b/y", "~/x and ~/y"),
    ("C:\\Users\\carol\\y, C:/Users/carol/y, C:\\\\Users\\\\carol\\\\y", "~\\y, ~/y, ~\\\\y"),
    ("/mnt/c/Users/dan/z", "~/z"),
    ("<cwd>/home/eve</cwd>", "<cwd>~</cwd>"),
    ("~/.claude/projects/-home-eve-shop/x.jsonl", "~/.claude/projects/-~-shop/x.jsonl"),
    ("mail a.b+c@mail.example.org.", "mail <email>."),
    ("psql -h 10.20.30.41:5432", "psql -h <ip>:5432"),
    ("ping 192.168.1.7 and fd12:3456::1", "ping <ip> and <ip>"),
    ("db-01.prod.internal is down, so is http://wiki.corp/x", "<host> is down, so is http://<host>/x"),
    ("zed42 asked", "<user> asked"),
]


@pytest.mark.parametrize(("text", "expected"), PERSONAL)
def test_personal_data_becomes_placeholder(text: str, expected: str) -> None:
    """Home, root, e-mail, inner address, inner host and given users are replaced and are no secrets."""
    redaction = SANITIZER.sanitize(text)
    assert redaction.text == expected
    assert redaction.findings
    assert not any(f.is_secret for f in redaction.findings)
    assert SANITIZER.secrets(text) == ()


HARMLESS = [
    "commit 4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff",
    "cache key 4f2c1e9b7d",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "resetPasswordTokenForUserAccountByEmailAddress and AbstractSingletonProxyFactoryBean2Test",
    "PASSWORD=YOUR_PASSWORD password: ${DB_PASSWORD} token=<token> api_key=xxxxxxxx",
    "sk-xxxxxxxxxxxxxxxxxxxx and ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "password: str | None = None; token = get_token(request); secret = os.environ['SECRET']",
    "max_tokens=4096, token_budget: 2000, tokenizer=bert, primary_key=True, monkey: 12345678a",
    "the password is required, the token has expired, the secret is missing",
    "passwords are hashed with argon2id; the password field is empty",
    "localhost:5432, 127.0.0.1, 0.0.0.0, ::1, 10.0.0.0/8, 8.8.8.8, version 10.2.3.4",
    "git@github.com:a/b.git, logo@2x.png, @scope/pkg@1.2.3, actions/checkout@v4",
    ".env.local, settings.local.json, threading.local(), com.example.internal, host.docker.internal",
    "密码为空时报错，密钥为 string 类型",
    "パスワードは必須です",
    "la contraseña es obligatoria, palabra clave: async",
    "postgres://user:password@localhost/db, https://user:${TOKEN}@github.com/a/b",
    "/home and /Users/Shared/x, https://example.com/home/alice",
    "Authorization: Bearer $TOKEN, Bearer token, basic auth",
    "cache-key: v1-linux-4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff, trace_id=4bf92f3577b34da6a3ce929d0e0e4736",
    "idempotency key 01ARZ3NDEKTSV4RRFFQ69G5FAV, pod auth-service-7d9f8b6c5d-x2k4q",
    "tests pass: 120, --- PASS: TestFoo (0.00s), PWD=/srv/app, the key insight: use pnpm@9",
    "kubectl get secret my-app-secret -o yaml, secretKeyRef: name",
    "It needs a deploy key. It came with 550e8400-e29b-41d4-a716-446655440000.",
    "The token is stale. It came with 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.",
    "The key moved: sha256-n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=. See there.",
    "password: letters must differ from the last five; passphrase: please choose another long one",
    "the passphrase is stale after every deploy, the passphrase is hashed before saving things",
    "AKIA KEYS MUST NEVER BE USED HERE, sk-learn v1alpha22, hf_hub 0x1234567, npm_config cache2dir",
    'error: "wrong user or password given", secret: "not found in this namespace"',
]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    """Hashes, identifiers, placeholders and prose about secrets are left alone."""
    assert SANITIZER.sanitize(text).text == text


FRAGMENTS = st.sampled_from(
    [
        *TOKENS.values(),
        *(text for text, _ in (*SECRETS, *PERSONAL)),
        *HARMLESS,
        "password",
        " is ",
        "=",
        ": ",
        "\n",
        "密码",
        "是",
        "\u200b",
        "\ud83d",
        "<redacted:password>",
        "<email>",
        "<",
        ">",
        "@",
        "://",
        "/home/",
        "~",
        "-----BEGIN PRIVATE KEY-----",
        "hunter2",
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(st.characters(), max_size=12), max_size=7).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_sanitising_is_total_and_idempotent(text: str) -> None:
    """Any str, lone surrogates included, gives text that can be written and has nothing more to find."""
    redaction = SANITIZER.sanitize(text)
    redaction.text.encode()
    again = SANITIZER.sanitize(redaction.text)
    assert again.text == redaction.text
    assert again.findings == ()
    for finding in redaction.findings:
        assert 0 <= finding.start < finding.end <= len(text)


@pytest.mark.parametrize("pattern", ["(", "[a", "(?P<x", "a{99999999999}", "*"])
def test_bad_pattern_is_a_config_error(pattern: str) -> None:
    """A pattern that is no regular expression is refused with a hint."""
    with pytest.raises(ConfigError) as caught:
        PrivacySanitizer(patterns=(pattern,))
    assert caught.value.hint


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a|a)*b", "([a-z]+)*x", ".*.*.*.*.*x", "(?:a?){40}a{40}"]
)
def test_runaway_pattern_is_refused(pattern: str) -> None:
    """A pattern that could take exponential time never reaches a text."""
    with pytest.raises(ConfigError):
        PrivacySanitizer(patterns=(pattern,))


def test_pattern_with_separated_rounds_is_accepted() -> None:
    """A repeat of repeats whose rounds are told apart by a character is linear and common."""
    sanitizer = PrivacySanitizer(
        patterns=(r"(?:[a-z0-9-]+\.)+acme", r"(?:\d{1,3}-){3}\d{1,3}", r"[a-z]+(?:_[a-z]+)*_acme")
    )
    assert sanitizer.sanitize("x a.b-1.acme 1-2-3-4 a_b_acme y").text == "x " + "<redacted:custom> " * 3 + "y"


@pytest.mark.parametrize(
    "pattern", [".*.*=x", r"\w+\s+\w+!", r"(?:[a-z0-9-]+\.)+corp", "a*a*a*b", "[a-z]+[a-z0-9]+[a-z]+#"]
)
def test_slow_pattern_is_bounded(pattern: str) -> None:
    """Open-ended repeats see short stretches: a long hostile line stays within seconds."""
    sanitizer = PrivacySanitizer(patterns=(pattern,))
    start = time.process_time()
    sanitizer.sanitize("a" * 20_000)
    assert time.process_time() - start < 8


def test_own_patterns_stay_quick_on_hostile_text() -> None:
    """No built-in pattern takes more than linear time on the texts that such patterns fear."""
    for piece in (
        "a",
        "a.",
        "a@",
        "/",
        "password ",
        "-",
        "eyJ",
        "A1",
        "=",
        "://",
        "\\",
        "密码",
        "1.",
        " \n",
        "a:",
        "key ",
    ):
        start = time.process_time()
        PrivacySanitizer().sanitize(piece * (20_000 // len(piece)))
        assert time.process_time() - start < 8, piece


def test_plain_text_does_not_load_detect_secrets() -> None:
    """The plugins cost a third of a second and are loaded only for a long mixed token that is left."""
    code = (
        "import sys; from memx.redact import PrivacySanitizer as P; p = P(); "
        "p.sanitize('Set `MAX_POOL_SIZE` to 50 in /home/a/b: password is hunter2, '"
        "'commit 4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff'); "
        "assert not any(m.startswith('detect_secrets') for m in sys.modules); "
        "r = p.sanitize('cloudant https://x:0123456789abcdef0a1b2c3d@y.cloudant.com '"
        "'AKCp8abcDEF1234567890xyzXYZ0987654321qweRTY'); "
        "assert any(m.startswith('detect_secrets') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_home_folder_inside_an_address_is_kept() -> None:
    """A user called root in a URL, and a folder of that name elsewhere, are no home folder."""
    sanitizer = PrivacySanitizer(home="/root")
    assert (
        sanitizer.sanitize("ssh://root@host:22/app and srv/root/x").text
        == "ssh://root@host:22/app and srv/root/x"
    )
    assert sanitizer.sanitize("look into /root/.config").text == "look into ~/.config"


def test_bot_token_is_redacted() -> None:
    """A Telegram bot's token is a number, a colon and a key."""
    token = "123456789" + ":AA" + "HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"
    assert token not in PrivacySanitizer().sanitize(f"the bot {token} stops at night").text
