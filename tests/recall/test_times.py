"""Clocks and files that lie: rows 54 and 55 of the faults that others met."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.recall.conftest import make_second

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recall.conftest import Clone

NOW = "2026-11-30T12:00:00Z"


@pytest.mark.parametrize(
    ("created", "age"),
    [
        ("2026-12-10T12:00:00Z", 0.0),
        ("2036-11-30T12:00:00Z", 0.0),
        ("9999-12-31T23:59:59Z", 0.0),
        ("2026-10-31T12:00:00", 30.0),
        ("2026-10-31T12:00:00Z", 30.0),
        ("2026-11-01T02:00:00+14:00", 30.0),
        ("2026-10-31", 30.5),
        ("0001-01-01T00:00:00Z", 739_949.5),
    ],
)
def test_any_time_decays_and_ranks(clone: Clone, created: str, age: float) -> None:
    """Future counts as now, naive as UTC; no weight leaves [0, 1] and nothing outranks a new bullet by its date."""
    name = clone.add(now="2026-11-01")
    file = clone.file(name)
    lines = file.read_text(encoding="utf-8").split("\n")
    kept = [line for line in lines if not line.startswith("updated:")]
    text = "\n".join(f"created: {created}" if line.startswith("created:") else line for line in kept)
    file.write_text(text, encoding="utf-8")
    row = clone.weighed(name, NOW)
    assert row["age_days"] == pytest.approx(age, abs=1.01 if age > 1000 else 0.01)
    assert 0.0 <= row["weight"] <= 1.0
    hit = clone.json("search", "redis pool", "--no-recall", "--now", NOW)["hits"][0]
    assert hit["decay"] == row["weight"]
    assert 0.0 <= hit["score"] < 2.0


@pytest.mark.parametrize("created", ["", "null", "~"])
def test_missing_time_is_that_of_the_first_commit(clone: Clone, created: str) -> None:
    """A file by hand without a time is no error."""
    folder = clone.folder / ".memx" / "bullets" / "general"
    folder.mkdir(parents=True, exist_ok=True)
    head = f"---\ncreated: {created}\n---\n" if created else ""
    (folder / "hand.md").write_text(f"{head}Deploys need VPN\n", encoding="utf-8")
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--date=2026-10-31T12:00:00Z", "-m", "By hand")
    assert clone.json("decay", "--now", NOW)["bullets"][0]["age_days"] == 30.0


def test_file_times_mean_nothing(clone: Clone, tmp_path: Path) -> None:
    """A fresh clone, and files that were touched, decay and rank as before."""
    names = [
        clone.add(now="2026-10-01"),
        clone.add("Use pnpm: npm breaks the lockfile of redis", "2026-07-01"),
    ]
    clone.commit()
    second = make_second(clone, tmp_path / "two")
    for name in names:
        os.utime(clone.file(name), (1, 1))
    decays = [here.json("decay", "--now", NOW) for here in (clone, second)]
    hits = [here.json("search", "redis", "--no-recall", "--now", NOW)["hits"] for here in (clone, second)]
    assert decays[0] == decays[1]
    assert hits[0] == hits[1]
    assert len(hits[0]) == 2
