"""Defaults, layers, trust and bad values of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.config import BOUNDS, UNTRUSTED, Config, ConfigFile, iter_keys, load_config, set_key
from memx.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

DESIGN = {
    "reflector.mode": "hybrid",
    "reflector.min_score": 30,
    "reflector.repetition_min": 3,
    "curator.merge_threshold": 0.8,
    "curator.conflict_threshold": 0.5,
    "curator.merge_strategy": "keep_best",
    "generator.keyword_weight": 0.6,
    "generator.semantic_weight": 0.4,
    "generator.max_results": 5,
    "generator.cjk_chars_per_token": 1.5,
    "generator.latin_chars_per_token": 4.0,
    "decay.half_life_days": 30,
    "decay.boost_factor": 0.1,
    "decay.permanent_recalls": 15,
    "decay.protection_days": 7,
    "decay.archive_below": 0.02,
    "decay.recall_window_minutes": 60,
    "generator.recency_boost": 1.2,
    "generator.recency_days": 7,
    "generator.scope_boost": 1.3,
    "generator.token_budget": 2000,
}


def write(path: Path, text: str) -> str:
    """Write a file and return its path as text."""
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("key", "value"), DESIGN.items())
def test_default_is_the_designs(key: str, value: object) -> None:
    """Every default of the design's table is the default here."""
    assert dict(iter_keys(Config()))[key] == value


def test_layers_later_wins(tmp_path: Path) -> None:
    """User beats team, clone beats user, the environment beats the clone, a flag beats all."""
    files = [
        ConfigFile(name, write(tmp_path / f"{name}.yml", f"generator:\n  max_results: {value}\n"))
        for name, value in (("team", 1), ("user", 2), ("clone", 3))
    ]
    environ = {"MEMX_GENERATOR_MAX_RESULTS": "4"}
    assert load_config(files[:1], {}).config.generator.max_results == 1
    assert load_config(files, {}).config.generator.max_results == 3
    assert load_config(files, environ).config.generator.max_results == 4
    assert load_config(files, environ, {"generator.max_results": 5}).config.generator.max_results == 5
    assert dict(load_config(files, {}).origins) == {"generator.max_results": "clone"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("generator:\n  max_results: many\n", 2, "whole number"),
        ("generator:\n  max_result: 3\n", 2, "unknown key"),
        ("generator: [1\n", 2, "not YAML"),
        ("- a\n- b\n", 1, "not a mapping"),
        ("decay:\n  half_life_days: -1\n", 2, "from 0.001 to 1,000,000"),
        ("curator:\n  merge_threshold: 80\n", 2, "curator.merge_threshold must be from 0 to 1, not '80'"),
        ("generator:\n  latin_chars_per_token: 0\n", 2, "from 0.1 to 100"),
        ("decay:\n  half_life_days: .inf\n", 2, "number"),
        ("reflector:\n  mode: magic\n", 2, "one of rules, hybrid, llm"),
        ("schema: 99\n", 1, "newer"),
        ("generator: 3\n", 1, "generator is a section"),
        ("generator:\n  max_results: 0\n", 2, "from 1 to 10,000"),
        ("generator:\n  token_budget: 0\n", 2, "from 1 to 100,000,000"),
        ("generator:\n  keyword_weight: 0\n  semantic_weight: 0.0\n", 3, "must not both be 0"),
    ],
)
def test_bad_file_reported_with_line_and_default_stays(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    """A bad entry is a problem with its place; nothing else stops working."""
    loaded = load_config([ConfigFile("team", write(tmp_path / "config.yml", text))], {})
    assert loaded.config == Config()
    assert [problem.line for problem in loaded.problems] == [line]
    assert words in loaded.problems[0].message


def test_bad_encoding_and_folder_reported(tmp_path: Path) -> None:
    """Bytes that are not UTF-8, and a folder in the place of the file, are problems."""
    (tmp_path / "latin.yml").write_bytes(b"a: \xe9\n")
    (tmp_path / "folder.yml").mkdir()
    for name in ("latin.yml", "folder.yml"):
        loaded = load_config([ConfigFile("team", str(tmp_path / name))], {})
        assert len(loaded.problems) == 1
    assert load_config([ConfigFile("team", str(tmp_path / "missing.yml"))], {}).problems == ()


def test_untrusted_team_key_ignored_until_trusted(tmp_path: Path) -> None:
    """A cloned file cannot choose a model or a command."""
    path = write(tmp_path / "config.yml", "embedding:\n  model: evil/model\nllm:\n  command: [rm, -rf]\n")
    loaded = load_config([ConfigFile("team", path, trusted=False)], {})
    assert loaded.config == Config()
    assert len(loaded.problems) == 2
    assert load_config([ConfigFile("team", path)], {}).config.embedding.model == "evil/model"
    assert load_config([ConfigFile("team", path)], {}).config.llm.command == ("rm", "-rf")


def test_waiting_for_trust_is_no_fault(tmp_path: Path) -> None:
    """Nothing is wrong with a file that waits for approval, so a reader does not name it each time."""
    path = write(tmp_path / "config.yml", "embedding:\n  model: own/model\n  modle: x\n")
    loaded = load_config([ConfigFile("team", path, trusted=False)], {})
    assert [problem.kind for problem in loaded.problems] == [UNTRUSTED, ""]


def test_weights_of_two_layers_must_not_both_be_0(tmp_path: Path) -> None:
    """One of them may be; together over several files, or in the environment, they are refused."""
    team = ConfigFile("team", write(tmp_path / "a.yml", "generator:\n  keyword_weight: 0\n"))
    clone = ConfigFile("clone", write(tmp_path / "b.yml", "generator:\n  semantic_weight: 0\n"))
    for one in (team, clone):
        assert load_config([one], {}).problems == ()
    loaded = load_config([team, clone], {})
    assert (loaded.config, loaded.origins, len(loaded.problems)) == (Config(), (), 1)
    with pytest.raises(ConfigError, match="both"):
        load_config([team], {"MEMX_GENERATOR_SEMANTIC_WEIGHT": "0"})


def test_bad_environment_raises() -> None:
    """What was typed just now is refused, not passed over."""
    with pytest.raises(ConfigError, match="whole number"):
        load_config([], {"MEMX_GENERATOR_MAX_RESULTS": "x"})


NUMBERS = [key for key, value in iter_keys(Config()) if type(value) in (int, float)]


@pytest.mark.parametrize("key", NUMBERS)
def test_number_beyond_its_bounds_is_refused_everywhere(tmp_path: Path, key: str) -> None:
    """Every numeric key has a range that holds its default; a file, the environment and `config set` name it."""
    least, most = BOUNDS[key]
    assert least <= dict(iter_keys(Config()))[key] <= most
    section, _, name = key.partition(".")
    for value in ("-1", "1" + "0" * 15, "nan", "inf"):
        path = write(tmp_path / "c.yml", f"{section}:\n  {name}: {value}\n")
        loaded = load_config([ConfigFile("user", path)], {})
        assert loaded.config == Config()
        assert [(problem.path, problem.line) for problem in loaded.problems] == [(path, 2)]
        assert loaded.problems[0].message.startswith(f"{key} must be ")
        variable = "MEMX_" + key.upper().replace(".", "_")
        with pytest.raises(ConfigError, match=rf"{key} must be .*{value}.*: {variable}"):
            load_config([], {variable: value})
        with pytest.raises(ConfigError, match=f"{key} must be "):
            set_key("", key, value)


def test_number_at_a_bound_is_taken() -> None:
    """Both ends of a range belong to it."""
    for key in NUMBERS:
        for bound in BOUNDS[key]:
            default = dict(iter_keys(Config()))[key]
            given_text = str(int(bound) if isinstance(default, int) else bound)
            loaded = load_config([], {"MEMX_" + key.upper().replace(".", "_"): given_text})
            assert dict(iter_keys(loaded.config))[key] == bound


def test_common_half_life_reaches_the_types() -> None:
    """A type without a half-life of its own follows the common one."""
    environ = {"MEMX_DECAY_HALF_LIFE_DAYS": "60", "MEMX_DECAY_HALF_LIFE_DAYS_TRICK": "5"}
    decay = load_config([], environ).config.decay
    assert (decay.half_life_days_pitfall, decay.half_life_days_trick) == (60.0, 5.0)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# mine\nschema: 1\n",
        "generator:\n  # keep\n  max_results: 3\n  token_budget: 9\n\nhooks:\n  block:\n    - secret\n",
    ],
)
@pytest.mark.parametrize(
    ("key", "value"), [("generator.max_results", "7"), ("hooks.block", "secret,conflict-marker")]
)
def test_set_key_reads_back_and_keeps_other_lines(tmp_path: Path, before: str, key: str, value: str) -> None:
    """After a change the key has its value and no other line was lost."""
    after = set_key(before, key, value)
    loaded = load_config([ConfigFile("clone", write(tmp_path / "c.yml", after))], {})
    found = dict(iter_keys(loaded.config))[key]
    assert (",".join(found) if isinstance(found, tuple) else str(found)) == value
    assert loaded.problems == ()
    for line in before.splitlines():
        if key.partition(".")[2] not in line and "- secret" not in line:
            assert line in after.splitlines()


def test_set_key_refuses_what_it_cannot_keep() -> None:
    """An unknown key, a bad value and a file of another form are refused with a reason."""
    for text, key, value in (
        ("", "no.key", "1"),
        ("", "generator.max_results", "x"),
        ("a: {b: 1}\n", "generator.max_results", "1"),
    ):
        with pytest.raises(ConfigError):
            set_key(text, key, value)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_never_raises(text: str) -> None:
    """Whatever stands in the file, loading it answers with a configuration."""
    import tempfile

    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace", suffix=".yml") as stream:
        stream.write(text)
        stream.flush()
        assert isinstance(load_config([ConfigFile("team", stream.name)], {}).config, Config)
