"""Sessions of coding agents, whatever tool wrote them, as one stream of events."""

from __future__ import annotations

from memx.transcripts.detect import FORMATS, detect_format, normalize_format
from memx.transcripts.discovery import SessionFile, discover_sessions
from memx.transcripts.offsets import Offsets
from memx.transcripts.reader import parse_text, read_session
from memx.transcripts.session import Limits, SessionRead

__all__ = [
    "FORMATS",
    "Limits",
    "Offsets",
    "SessionFile",
    "SessionRead",
    "detect_format",
    "discover_sessions",
    "normalize_format",
    "parse_text",
    "read_session",
]
