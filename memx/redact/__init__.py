"""PrivacySanitizer: secrets and personal data out of every string before it lands on disk."""

from __future__ import annotations

from memx.redact.finding import Finding, Redaction
from memx.redact.sanitizer import PrivacySanitizer

__all__ = ["Finding", "PrivacySanitizer", "Redaction"]
