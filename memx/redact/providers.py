"""Credentials known by their form: provider prefixes, JWT, private keys, URL credentials.

Each row is (kind, a text that must occur for the pattern to be tried, pattern).
The cheap test keeps a plain sentence from paying for forty regular expressions.
"""

from __future__ import annotations

from memx.redact.finding import Match, secret
from memx.redact.pattern import Pattern, has_any
from memx.redact.shape import has_digit, has_letter, is_placeholder, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_START = r"(?<![A-Za-z0-9_])"
_WORD = r"[A-Za-z0-9_-]"
_END = r"(?![A-Za-z0-9])"

TOKENS: tuple[tuple[str, str, str], ...] = (
    ("aws-key", "A", rf"{_START}(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA|AIPA)[A-Z0-9]{{16}}{_END}"),
    ("google-key", "AIza", rf"AIza{_WORD}{{30,}}"),
    ("google-token", "ya29.", rf"ya29\.{_WORD}{{20,}}"),
    ("google-token", "GOCSPX-", rf"GOCSPX-{_WORD}{{20,}}"),
    ("anthropic-key", "sk-ant-", rf"sk-ant-{_WORD}{{16,}}"),
    ("openai-key", "sk-", rf"{_START}sk-(?:proj|svcacct|admin|or-v1|lf)-{_WORD}{{16,}}"),
    ("openai-key", "sk-", rf"{_START}sk-(?=[A-Za-z]*[0-9])[A-Za-z0-9]{{20,}}{_END}"),
    ("openai-key", "T3BlbkFJ", rf"{_WORD}{{10,}}T3BlbkFJ{_WORD}{{10,}}"),
    ("telegram-token", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,35}(?![A-Za-z0-9_-])"),
    ("github-token", "gh", r"gh[opusr]_[A-Za-z0-9]{20,}"),
    ("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    (
        "gitlab-token",
        "gl",
        rf"gl(?:pat|dt|ft|soat|rt|rtr|cbt|imt|ptt|agent|oas|ffct)-{_WORD}{{16,}}(?:\.{_WORD}+)*",
    ),
    ("gitlab-token", "GR1348941", rf"GR1348941{_WORD}{{20,}}"),
    ("slack-token", "xox", r"xox[abeoprs]-(?:[0-9A-Za-z]+-)*[0-9A-Za-z]{10,}"),
    ("slack-token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    (
        "slack-webhook",
        "hooks.slack.com",
        r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}",
    ),
    ("discord-webhook", "/webhooks/", rf"(?<=/webhooks/)[0-9]{{15,}}/{_WORD}{{30,}}"),
    ("discord-token", ".", rf"{_START}[MNO][A-Za-z0-9_-]{{23,25}}\.{_WORD}{{6}}\.{_WORD}{{27,}}"),
    ("sendgrid-key", "SG.", rf"{_START}SG\.{_WORD}{{16,}}\.{_WORD}{{16,}}"),
    ("stripe-key", "k_", rf"{_START}(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{{10,}}"),
    ("stripe-key", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("npm-token", "npm_", rf"{_START}npm_[A-Za-z0-9]{{20,}}"),
    ("npm-token", "_authToken", r"(?<=_authToken=)[^\s\"'$<{]{8,}"),
    ("pypi-token", "pypi-", rf"pypi-{_WORD}{{16,}}"),
    ("huggingface-token", "hf_", rf"{_START}(?:hf|api_org)_[A-Za-z0-9]{{20,}}"),
    ("twilio-key", "SK", rf"{_START}SK[0-9a-f]{{32}}{_END}"),
    ("twilio-key", "AC", rf"{_START}AC[0-9a-f]{{32}}{_END}"),
    ("digitalocean-token", "_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),
    ("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{24,}"),
    ("square-token", "sq0", rf"sq0[a-z]{{3}}-{_WORD}{{20,}}"),
    ("mailgun-key", "key-", rf"{_START}key-[0-9a-f]{{32}}{_END}"),
    ("mailchimp-key", "-us", rf"{_START}[0-9a-f]{{32}}-us[0-9]{{1,2}}{_END}"),
    ("telegram-token", ":A", r"(?<![A-Za-z0-9])(?:bot)?[0-9]{8,10}:A[A-Za-z0-9_-]{34}"),
    ("databricks-token", "dapi", rf"{_START}dapi[0-9a-f]{{32}}"),
    ("vault-token", "hv", rf"{_START}hv[bsr]\.{_WORD}{{20,}}"),
    ("docker-token", "dckr_", rf"dckr_[op]at_{_WORD}{{20,}}"),
    ("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{20,}"),
    ("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{20,}"),
    ("notion-token", "ntn_", rf"{_START}ntn_[A-Za-z0-9]{{20,}}"),
    ("notion-token", "secret_", rf"{_START}secret_[A-Za-z0-9]{{40,}}"),
    ("groq-key", "gsk_", rf"{_START}gsk_[A-Za-z0-9]{{20,}}"),
    ("replicate-token", "r8_", rf"{_START}r8_[A-Za-z0-9]{{30,}}"),
    ("xai-key", "xai-", rf"{_START}xai-[A-Za-z0-9]{{20,}}"),
    ("perplexity-key", "pplx-", rf"{_START}pplx-[A-Za-z0-9]{{20,}}"),
    ("grafana-token", "gl", rf"{_START}gl(?:sa|c)_[A-Za-z0-9+/=_]{{20,}}"),
    ("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_]{20,}"),
    ("new-relic-key", "NRAK-", r"NRAK-[A-Z0-9]{20,}"),
    ("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{30,}"),
    ("doppler-token", "dp.", rf"{_START}dp\.(?:pt|st|ct|sa|scim|audit)\.{_WORD}{{20,}}"),
    ("pulumi-token", "pul-", rf"{_START}pul-[0-9a-f]{{40}}"),
    ("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{40,}"),
    ("cargo-token", "cio", rf"{_START}cio[A-Za-z0-9]{{32}}{_END}"),
    ("figma-token", "figd_", rf"figd_{_WORD}{{20,}}"),
    ("airtable-token", "pat", rf"{_START}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{40,}}"),
    ("planetscale-token", "pscale_", rf"pscale_[a-z]+_{_WORD}{{20,}}"),
    ("supabase-token", "sb", rf"{_START}sbp_[0-9a-f]{{40}}"),
    ("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    ("azure-key", "AccountKey", r"(?<=AccountKey=)[A-Za-z0-9+/=]{20,}"),
    ("azure-key", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/=]{20,}"),
    ("azure-key", "Q~", rf"{_START}[A-Za-z0-9_~.-]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}"),
    ("jwt", "eyJ", rf"{_START}eyJ{_WORD}{{8,}}\.{_WORD}{{8,}}(?:\.{_WORD}*)?"),
)
_PRIVATE_KEY = Pattern(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END )[\s\S]){0,20000}?"
    r"(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z|(?=\n\s*\n\s*[A-Za-z]+ ))"
)
_USERINFO = Pattern(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:/{2,4}([^\s/@:\"'<>`]{0,200}):([^\s\"'<>`/?#]{1,300})@")
_SLASHED_USERINFO = Pattern(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|smtps?|ftps?|sftp|ldaps?)(?:\+[a-z0-9]+)?://"
    r"[^\s/@:\"'<>`]{0,200}:([^\s\"'<>`]{1,300})@(?=[A-Za-z0-9\[])"
)
_USER_ONLY = Pattern(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://([A-Za-z0-9_-]{20,300})@")
_URL_PLACEHOLDERS = frozenset(
    ("pass", "pw", "pwd", "passwd", "user", "postgres", "guest", "root", "x-oauth-basic")
)

_PATTERNS = tuple((kind, needle, Pattern(source)) for kind, needle, source in TOKENS)
_SHORTEST = 15
"""Characters of the shortest token, `xoxb-` and ten; none holds a blank."""


def tokens(text: str) -> Iterator[Match]:
    """Yield tokens with a provider's prefix; a prefix before filler (`sk-xxxxxxxx`) is none."""
    words = " ".join([word for word in text.split() if len(word) >= _SHORTEST])
    for kind, needle, pattern in _PATTERNS if words else ():
        if needle not in words:
            continue
        for match in pattern.finditer(text):
            if not _is_filler(match.group()):
                yield secret(kind, match.start(), match.end(), priority=2)


_SPLIT_KEY = Pattern(rf"{_START}(?:AKIA|ASIA)(?:[ \t-]{{0,2}}[A-Z0-9]){{16}}{_END}")
_SPLIT_PREFIXES = (
    "gh", "github_pat_", "glpat-", "sk-", "xox", "AIza", "npm_", "pypi-", "hf_", "k_live_", "k_test_", "SG.", "dop_v1_",
)  # fmt: skip
_SPLIT_TOKEN = Pattern(
    rf"{_START}(?P<head>(?:gh[opusr]_|github_pat_|glpat-|sk-|xox[abeoprs]-|AIza|npm_|pypi-|hf_|[srp]k_(?:live|test)_"
    r"|SG\.|dop_v1_)[A-Za-z0-9_.-]{4,})[ \t]{1,2}(?P<rest>[A-Za-z0-9_.-]{6,})"
)
_PIECE = Pattern(r"[A-Z0-9]+")


def split_tokens(text: str) -> Iterator[Match]:
    """Yield tokens with a blank in the midst, as a broken line or a table leaves them."""
    for match in _SPLIT_KEY.finditer(text) if "KIA" in text or "SIA" in text else ():
        pieces = _PIECE.regex.findall(match.group())
        if len(pieces) > 1 and has_digit(match.group()) and min(map(len, pieces)) > 2:  # noqa: PLR2004
            yield secret("aws-key", match.start(), match.end(), priority=2)
    for match in _SPLIT_TOKEN.finditer(text) if has_any(text, _SPLIT_PREFIXES) else ():
        head, rest = match["head"], match["rest"].rstrip(".-")
        if has_digit(rest) and has_letter(rest) and not any(tokens(head)):
            for token in tokens(head + rest):
                if token.start == 0 and token.end > len(head):
                    yield secret(token.kind, match.start(), match.start("rest") + len(rest), priority=2)


_FILLER_VARIETY = 4
_BODY_LENGTH = 12


def _is_filler(token: str) -> bool:
    body = token[-_BODY_LENGTH:]
    if len(set(body.lower())) <= _FILLER_VARIETY and not (set(body) - set("xX*.-_0")):
        return True
    return "your" in token.lower() and not any(char.isdigit() for char in token)


def private_keys(text: str) -> Iterator[Match]:
    """Yield PEM private keys; one without an end reaches to the next prose or the end of the text."""
    if "PRIVATE KEY" not in text:
        return
    for match in _PRIVATE_KEY.finditer(text):
        yield secret("private-key", match.start(), match.end(), priority=3)


def url_credentials(text: str) -> Iterator[Match]:
    """Yield the password of `scheme://user:password@host`, and a lone random user (a DSN's key)."""
    if "@" not in text or ":/" not in text:
        return
    for match in _USERINFO.finditer(text):
        if not _is_url_placeholder(match.group(2)):
            yield secret("url-password", *match.span(2), priority=1)
    for match in _SLASHED_USERINFO.finditer(text):
        if not _is_url_placeholder(match.group(1)):
            yield secret("url-password", *match.span(1), priority=1)
    for match in _USER_ONLY.finditer(text):
        if looks_random(match.group(1)):
            yield secret("url-password", *match.span(1), priority=1)


def _is_url_placeholder(value: str) -> bool:
    return is_placeholder(value) or value.lower() in _URL_PLACEHOLDERS or value.startswith("<")
