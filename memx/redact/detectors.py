"""The provider plugins of detect-secrets, behind our own patterns.

Importing them costs more than all the rest of a command, so they are loaded
only for a text that still holds a long token of mixed characters. The entropy
and keyword plugins stay off: they flag commit hashes and YOUR_PASSWORD.
"""

from __future__ import annotations

from memx.redact.finding import Match, secret
from memx.redact.pattern import Pattern, has_long_word
from memx.redact.shape import is_hash, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SHORTEST = 24
_TOKEN = Pattern(rf"[A-Za-z0-9+/_=:.~-]{{{_SHORTEST},4096}}")
_PLUGINS = (
    ("artifactory", "ArtifactoryDetector"),
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("cloudant", "CloudantDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("ibm_cloud_iam", "IbmCloudIamDetector"),
    ("ibm_cos_hmac", "IbmCosHmacDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("npm", "NpmDetector"),
    ("openai", "OpenAIDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("softlayer", "SoftlayerDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)
_plugins: list[tuple[str, Any]] = []


def provider_plugins(text: str) -> Iterator[Match]:
    """Yield what detect-secrets knows and our own patterns do not; loads it only when needed."""
    if not has_long_word(text, _SHORTEST) or not any(
        _is_candidate(match.group()) for match in _TOKEN.finditer(text)
    ):
        return
    start = 0
    for line in text.splitlines(keepends=True):
        if any(_is_candidate(match.group()) for match in _TOKEN.finditer(line)):
            for kind, value in _scan(line):
                place = line.find(value)
                while place >= 0:
                    yield secret(kind, start + place, start + place + len(value), priority=-2)
                    place = line.find(value, place + len(value))
        start += len(line)


def _is_candidate(token: str) -> bool:
    bare = token.strip("=:./-_~")
    return not is_hash(bare) and looks_random(bare)


def _scan(line: str) -> Iterator[tuple[str, str]]:
    for kind, plugin in _load():
        for value in plugin.analyze_string(line):
            text = value if isinstance(value, str) else "".join(value)
            if text and _is_candidate(text) and text in line:
                yield kind, text


def _load() -> list[tuple[str, Any]]:
    if not _plugins:
        from importlib import import_module

        for module, name in _PLUGINS:
            plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
            _plugins.append((module.replace("_", "-"), plugin()))
    return _plugins
