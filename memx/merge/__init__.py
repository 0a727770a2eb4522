"""The three-way merge of bullet files: pure, standard library only, cheap enough to run once a file."""

from __future__ import annotations

from memx.merge.bullet import Labels, MergeOutcome, merge_bullets, merge_text

__all__ = ["Labels", "MergeOutcome", "merge_bullets", "merge_text"]
