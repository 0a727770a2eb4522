"""Vectors of bullets: a static model, a vector file and what its cosine means."""

from __future__ import annotations
