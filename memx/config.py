"""The configuration: typed sections, every default in one place.

`load_config` in memx/repo/... reads files; this module only knows values. Keys
are written `section.key` in files, in `MEMX_SECTION_KEY` and in `memx config`.
"""

from __future__ import annotations

from memx.record import record


@record
class ReflectorConfig:
    """How lessons are distilled."""

    mode: str = "hybrid"
    min_score: int = 30
    repetition_min: int = 3


@record
class CuratorConfig:
    """When two bullets are the same or in conflict; thresholds are calibrated probabilities."""

    merge_threshold: float = 0.8
    conflict_threshold: float = 0.5
    merge_strategy: str = "keep_best"


@record
class DecayConfig:
    """How bullets fade; `half_life_days_<type>` overrides the common half-life."""

    half_life_days: float = 30.0
    half_life_days_method: float = 30.0
    half_life_days_trick: float = 30.0
    half_life_days_pitfall: float = 30.0
    half_life_days_preference: float = 30.0
    half_life_days_knowledge: float = 30.0
    boost_factor: float = 0.1
    permanent_recalls: int = 15
    protection_days: float = 7.0
    archive_below: float = 0.02
    recall_window_minutes: float = 60.0


@record
class GeneratorConfig:
    """How hits are scored and how many tokens they may fill."""

    keyword_weight: float = 0.6
    semantic_weight: float = 0.4
    max_results: int = 5
    token_budget: int = 2000
    recency_boost: float = 1.2
    recency_days: float = 7.0
    scope_boost: float = 1.3
    cjk_chars_per_token: float = 1.5
    latin_chars_per_token: float = 4.0


@record
class EmbeddingConfig:
    """Which static model turns text into vectors: `bundled`, a local folder, or a hub name."""

    model: str = "bundled"


@record
class HooksConfig:
    """What git hooks do. `block`: what pre-commit refuses."""

    block: tuple[str, ...] = ("secret", "conflict-marker")
    deadline_seconds: float = 5.0
    distill_on_commit: bool = True
    distill_on_merge: bool = True
    distill_sessions: bool = True


@record
class PrivacyConfig:
    """Extra patterns to redact: regular expressions, one an item."""

    patterns: tuple[str, ...] = ()


@record
class LlmConfig:
    """Which LLM refines candidates; empty: none. Honoured from the user's or the clone's config only."""

    model: str = ""
    command: tuple[str, ...] = ()


@record
class Config:
    """All sections."""

    reflector: ReflectorConfig = ReflectorConfig()
    curator: CuratorConfig = CuratorConfig()
    decay: DecayConfig = DecayConfig()
    generator: GeneratorConfig = GeneratorConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    hooks: HooksConfig = HooksConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    llm: LlmConfig = LlmConfig()
