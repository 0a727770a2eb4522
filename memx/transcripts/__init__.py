"""Sessions of coding agents, whatever tool wrote them, as one stream of events."""

from __future__ import annotations

from memx.transcripts.detect import FORMATS, detect_format, normalize_format
from memx.transcripts.reader import parse_text, read_session
from memx.transcripts.session import Limits, SessionRead

__all__ = [
    "FORMATS",
    "Limits",
    "SessionRead",
    "detect_format",
    "normalize_format",
    "parse_text",
    "read_session",
]
