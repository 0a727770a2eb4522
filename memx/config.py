"""The configuration: typed sections, every default in one place, and the files that change them.

Precedence: defaults < team (`.memx/config.yml`) < user < clone < `MEMX_A_B` for
key `a.b` < flags. A team file is committed and therefore untrusted: keys in
NEEDS_TRUST are ignored in it until its digest was approved on this machine.
"""

from __future__ import annotations

import os

from memx.errors import ConfigError
from memx.model import Problem
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NEEDS_TRUST = frozenset({"llm.*", "embedding.model", "sync.usage"})
"""Keys that may name a model, run a command, spend or send; `section.*` stands for every key of a section."""
SCHEMA = 1
_PREFIX = "MEMX_"
_TRUST = "memx trust"
UNTRUSTED = "untrusted"
"""The kind of the problem that a key waits for approval: nothing is wrong with the file then."""
_WEIGHTS = frozenset({"generator.keyword_weight", "generator.semantic_weight"})


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
    """What git hooks do.

    `block`: what pre-commit refuses: secret, conflict-marker, front-matter (files that do not parse), unsafe-path
    (links).
    """

    block: tuple[str, ...] = ("secret", "conflict-marker")
    deadline_seconds: float = 5.0
    distill_on_commit: bool = True
    distill_on_merge: bool = True
    distill_sessions: bool = True


@record
class SyncConfig:
    """Whether `memx sync` shares recall counts, and with which remote of this clone."""

    usage: bool = False
    remote: str = "origin"


@record
class PrivacyConfig:
    """Extra patterns to redact: regular expressions, one an item."""

    patterns: tuple[str, ...] = ()


@record
class LlmConfig:
    """Which LLM refines candidates (a model of the `llm` library, or a command), and how much it may do.

    Without a model and a command there is none. Honoured from the user's or the clone's config only. Tokens count
    both ways; a day is one of UTC.
    """

    model: str = ""
    command: tuple[str, ...] = ()
    timeout_seconds: float = 60.0
    retries: int = 2
    concurrency: int = 2
    batch_size: int = 16
    context_tokens: int = 6000
    max_calls_per_run: int = 200
    max_tokens_per_run: int = 400_000
    max_calls_per_day: int = 1000
    max_tokens_per_day: int = 2_000_000


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
    sync: SyncConfig = SyncConfig()
    llm: LlmConfig = LlmConfig()


@record
class ConfigFile:
    """One layer: its name (team, user or clone), its path, and whether its digest is trusted."""

    layer: str
    path: str
    trusted: bool = True


@record
class Loaded:
    """The merged configuration, where each changed key came from, and what was wrong."""

    config: Config
    origins: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def needs_trust(key: str) -> bool:
    """Tell whether a team file may set a key only after it was trusted."""
    return key in NEEDS_TRUST or key.partition(".")[0] + ".*" in NEEDS_TRUST


def iter_keys(config: Config) -> Iterator[tuple[str, object]]:
    """Yield every `section.key` with its value, in the order of declaration."""
    for section in _field_names(config):
        values = getattr(config, section)
        for key in _field_names(values):
            yield f"{section}.{key}", getattr(values, key)


def load_config(
    files: Sequence[ConfigFile],
    environ: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
) -> Loaded:
    """Merge all layers; a bad value in a file is a problem with its place and the default stays.

    A bad value in the environment or in a flag raises ConfigError: it was typed just now.
    """
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    places: dict[str, tuple[str, int]] = {}
    problems: list[Problem] = []
    known = dict(iter_keys(Config()))
    for file in files:
        for key, raw, line in _read_file(file.path, problems):
            try:
                accepted = _accept(file, key, raw, known)
            except ConfigError as error:
                kind = UNTRUSTED if error.hint == _TRUST else ""
                problems.append(Problem(error.message, file.path, line, error.hint or "", kind))
            else:
                values.update(accepted)
                origins.update(dict.fromkeys(accepted, file.layer))
                places.update(dict.fromkeys(accepted, (file.path, line)))
    named = {name for name in environ if name.startswith(_PREFIX)}
    for key, default in known.items() if named else ():
        name = _PREFIX + key.upper().replace(".", "_")
        if name in named:
            try:
                values[key] = _coerce(key, environ[name], default)
            except ConfigError as error:
                error.path = name
                raise
            origins[key] = name
    for key, value in (flags or {}).items():
        if value is not None:
            values[key] = _coerce(key, value, known[key])
            origins[key] = "flag"
    _refuse_weights(values, origins, places, problems)
    _inherit_half_life(values)
    return Loaded(_build(values), tuple(origins.items()), tuple(problems))


def _accept(file: ConfigFile, key: str, raw: object, known: Mapping[str, object]) -> dict[str, object]:
    """Return the typed value of one entry of a file (nothing for the schema), or raise ConfigError."""
    if key == "schema":
        if not (isinstance(raw, str) and raw.isdigit() and int(raw) <= SCHEMA):
            raise ConfigError(f"schema {raw} is newer than this memx knows", hint="upgrade memx")
        return {}
    if key not in known:
        if key in _field_names(Config()):
            raise ConfigError(f"{key} is a section: its keys stand indented below it", hint="see memx config")
        raise ConfigError(f"unknown key {key}", hint="see memx config")
    if needs_trust(key) and not file.trusted and raw != known[key]:
        raise ConfigError(f"{key} is ignored until it is trusted", hint=_TRUST)
    return {key: _coerce(key, raw, known[key])}


def _refuse_weights(
    values: dict[str, object],
    origins: dict[str, str],
    places: Mapping[str, tuple[str, int]],
    problems: list[Problem],
) -> None:
    """Go back to the default weights where both are 0, for with neither no bullet is about anything."""
    if not _WEIGHTS.issubset(values) or any(values[key] for key in _WEIGHTS):
        return
    message = f"{' and '.join(sorted(_WEIGHTS))} must not both be 0"
    if not _WEIGHTS.issubset(places):
        raise ConfigError(message)
    path, line = max((places[key] for key in _WEIGHTS), key=lambda place: place[1])
    problems.append(Problem(message, path, line))
    for key in _WEIGHTS:
        del values[key], origins[key]


def _inherit_half_life(values: dict[str, object]) -> None:
    """Let a type without a half-life of its own follow the common one."""
    if "decay.half_life_days" in values:
        for name in _field_names(DecayConfig()):
            if name.startswith("half_life_days_"):
                values.setdefault(f"decay.{name}", values["decay.half_life_days"])


def _build(values: Mapping[str, object]) -> Config:
    config = Config()
    for section in _field_names(config) if values else ():
        prefix = section + "."
        changes = {key[len(prefix) :]: value for key, value in values.items() if key.startswith(prefix)}
        if changes:
            config = replace(config, **{section: replace(getattr(config, section), **changes)})
    return config


def _field_names(instance: object) -> tuple[str, ...]:
    return tuple(type(instance).__slots__)  # type: ignore[attr-defined]


_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_CHOICES = {
    "reflector.mode": ("rules", "hybrid", "llm"),
    "curator.merge_strategy": ("keep_best", "merge_content"),
}


_DAYS = (0, 1_000_000)
_HALF_LIFE = (0.001, 1_000_000)
_SHARE = (0, 1)
_FACTOR = (0, 100)
_CHARS = (0.1, 100)
_CALLS = (0, 1_000_000_000)
BOUNDS: dict[str, tuple[float, float]] = {
    "reflector.min_score": (0, 100),
    "reflector.repetition_min": (1, 1000),
    "curator.merge_threshold": _SHARE,
    "curator.conflict_threshold": _SHARE,
    "decay.half_life_days": _HALF_LIFE,
    "decay.half_life_days_method": _HALF_LIFE,
    "decay.half_life_days_trick": _HALF_LIFE,
    "decay.half_life_days_pitfall": _HALF_LIFE,
    "decay.half_life_days_preference": _HALF_LIFE,
    "decay.half_life_days_knowledge": _HALF_LIFE,
    "decay.boost_factor": _FACTOR,
    "decay.permanent_recalls": (0, 1_000_000),
    "decay.protection_days": _DAYS,
    "decay.archive_below": _SHARE,
    "decay.recall_window_minutes": (0, 10_000_000),
    "generator.keyword_weight": _SHARE,
    "generator.semantic_weight": _SHARE,
    "generator.max_results": (1, 10_000),
    "generator.token_budget": (1, 100_000_000),
    "generator.recency_boost": _FACTOR,
    "generator.recency_days": _DAYS,
    "generator.scope_boost": _FACTOR,
    "generator.cjk_chars_per_token": _CHARS,
    "generator.latin_chars_per_token": _CHARS,
    "hooks.deadline_seconds": (0, 3600),
    "llm.timeout_seconds": (0.01, 86_400),
    "llm.retries": (0, 100),
    "llm.concurrency": (1, 100),
    "llm.batch_size": (1, 1000),
    "llm.context_tokens": (100, 100_000_000),
    "llm.max_calls_per_run": _CALLS,
    "llm.max_tokens_per_run": _CALLS,
    "llm.max_calls_per_day": _CALLS,
    "llm.max_tokens_per_day": _CALLS,
}
"""The least and the greatest value of every number, both allowed: what lies beyond is a slip, or divides by zero."""


def _coerce(key: str, raw: object, default: object) -> object:
    """Give a raw value the type of the key's default, or raise ConfigError."""
    if isinstance(default, tuple):
        items = raw if isinstance(raw, (list, tuple)) else [] if raw == "" else str(raw).split(",")
        return tuple(str(item).strip() for item in items)
    text = str(raw).strip()
    if isinstance(default, bool):
        if text.lower() not in _TRUE + _FALSE:
            raise ConfigError(f"{key} must be true or false, not {text[:40]!r}")
        return text.lower() in _TRUE
    if isinstance(default, (int, float)):
        return _coerce_number(key, text, default)
    choices = _CHOICES.get(key)
    if choices and text not in choices:
        raise ConfigError(f"{key} must be one of {', '.join(choices)}, not {text!r}")
    return text


def _coerce_number(key: str, text: str, default: float) -> float:
    try:
        number = int(text) if isinstance(default, int) else float(text)
    except ValueError as error:
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise ConfigError(f"{key} must be {kind}, not {text[:40]!r}") from error
    least, most = BOUNDS[key]
    if not least <= number <= most:
        raise ConfigError(
            f"{key} must be from {format_number(least)} to {format_number(most)}, not {text[:40]!r}"
        )
    return number


def format_number(number: float) -> str:
    """Return a bound as a person would write it."""
    return f"{number:,}"


def _read_file(path: str, problems: list[Problem]) -> list[tuple[str, object, int]]:
    """Return (key, raw value, line) of one file; a missing file is empty."""
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read(1 << 20)
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        return []
    except (OSError, UnicodeError) as error:
        problems.append(Problem(f"cannot read the configuration: {error}", path))
        return []
    simple = _read_simple(text)
    return simple if simple is not None else _read_yaml(text, path, problems)


def _read_simple(text: str) -> list[tuple[str, object, int]] | None:
    """Read the two-level form that memx writes without importing yaml (20 ms); None for anything more."""
    found: list[tuple[str, object, int]] = []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if stripped.startswith("- ") and indent == 4 and found and isinstance(found[-1][1], list):  # noqa: PLR2004
            item = _plain(stripped[2:])
            if item is None:
                return None
            found[-1][1].append(item)
            continue
        key, colon, rest = stripped.partition(":")
        value = _plain(rest)
        if not colon or value is None or not key.replace("_", "").isalnum() or indent not in (0, 2):
            return None
        if indent == 0 and value == "":
            section = key + "."
        elif indent == 0:
            section = ""
            found.append((key, value, number))
        elif not section:
            return None
        else:
            found.append((section + key, value if rest.strip() else [], number))
    return found


def _plain(text: str) -> str | None:
    """Return a plain or simply quoted scalar, None for anything that needs a YAML parser."""
    value = text.split(" #", 1)[0].strip()
    if value[:1] == '"':
        inner = value[1:-1]
        return inner if len(value) > 1 and value[-1] == '"' and not set(inner) & {'"', "\\"} else None
    return None if value[:1] in set("'[]{}&*!|>%@`?,") or ": " in value else value


def _read_yaml(text: str, path: str, problems: list[Problem]) -> list[tuple[str, object, int]]:
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problems.append(Problem("the configuration is not YAML", path, mark.line + 1 if mark else None))
        return []
    found: list[tuple[str, object, int]] = []
    if root is None:
        return found
    if not isinstance(root, yaml.MappingNode):
        problems.append(Problem("the configuration is not a mapping", path, 1))
        return found
    for key, value in root.value:
        line = key.start_mark.line + 1
        if isinstance(value, yaml.MappingNode):
            found.extend(
                (f"{key.value}.{k.value}", _node_value(v), k.start_mark.line + 1) for k, v in value.value
            )
        else:
            found.append((str(key.value), _node_value(value), line))
    return found


def _node_value(node: object) -> object:
    """Return a scalar as text, a sequence as a list; deeper nesting becomes text that no key accepts."""
    value = getattr(node, "value", "")
    if isinstance(value, list):
        return [str(getattr(item, "value", item)) for item in value]
    return str(value)


def set_key(text: str, key: str, value: str) -> str:
    """Return the file's text with one key changed or added; other lines stay as they are.

    Raises ConfigError for an unknown key, a bad value, or a file that is not in the simple form.
    """
    known = dict(iter_keys(Config()))
    if key not in known:
        raise ConfigError(f"unknown key {key}", hint="memx config lists all keys")
    _coerce(key, value, known[key])
    if _read_simple(text) is None:
        raise ConfigError("this file is not in the simple two-level form", hint="edit it by hand")
    section, _, name = key.partition(".")
    new = _format_entry(name, value, many=isinstance(known[key], tuple))
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.rstrip() == section + ":"), None)
    if start is None:
        lines += [f"{section}:", *new]
        return "\n".join(lines) + "\n"
    end = start + 1
    while end < len(lines) and (
        lines[end].startswith(" ") or not lines[end].strip() or lines[end].startswith("#")
    ):
        end += 1
    for index in range(start + 1, end):
        if lines[index].startswith(f"  {name}:"):
            after = index + 1
            while after < end and lines[after].startswith("    - "):
                after += 1
            lines[index:after] = new
            break
    else:
        lines[start + 1 : start + 1] = new
    return "\n".join(lines) + "\n"


def _format_entry(name: str, value: str, *, many: bool) -> list[str]:
    if not many:
        return [f"  {name}: {value}"]
    return [f"  {name}:", *(f"    - {item.strip()}" for item in value.split(",") if item.strip())]


def find_config_files(
    store_root: str, common_dir: str, user_dir: str, *, team_trusted: bool
) -> list[ConfigFile]:
    """Return the layers that exist for these places, in the order of precedence; empty names are left out."""
    layers = (
        ("team", store_root, "config.yml", team_trusted),
        ("user", user_dir, "config.yml", True),
        ("clone", common_dir, os.path.join("memx", "config.yml"), True),
    )
    return [
        ConfigFile(name, os.path.join(place, file), trusted) for name, place, file, trusted in layers if place
    ]
