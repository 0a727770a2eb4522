"""Lessons from commits and agent sessions, by rules and a small learned score, without an LLM."""

from __future__ import annotations

from memx.reflector.reflector import Reflection, Reflector

__all__ = ["Reflection", "Reflector"]
