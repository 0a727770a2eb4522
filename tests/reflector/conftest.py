"""A reflector with the defaults and the real sanitizer."""

from __future__ import annotations

import pytest

from memx.config import ReflectorConfig
from memx.redact import PrivacySanitizer
from memx.reflector import Reflector


@pytest.fixture(scope="session")
def reflector() -> Reflector:
    """Return a reflector in its default configuration."""
    return Reflector(ReflectorConfig(), PrivacySanitizer())
