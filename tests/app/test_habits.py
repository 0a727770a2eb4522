"""What is run by hand in session after session: counted over runs of memx, polling and navigation left out."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from memx.app.distil import Distilled, Options
from memx.app.habits import FILE_NAME, Habits
from memx.app.project import Project
from memx.app.sessions import distil_sessions

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

NOW = 1_796_000_000
HABIT = "docker compose exec web php artisan cache:clear"
REQUESTS = {
    "en": "Please continue with the next page of the shop.",
    "zh": "请继续做商店的下一个页面。",
    "ja": "ショップの次のページを続けてください。",
    "es": "Por favor, sigue con la siguiente página de la tienda.",
}


@pytest.fixture
def project(git_repo: GitRepo) -> Project:
    """Return a project with a store."""
    git_repo.write(".memx/bullets/.gitkeep", "")
    return Project(str(git_repo.path), environ=dict(os.environ), now=NOW)


def write_session(project: Project, name: str, commands: list[str], request: str = REQUESTS["en"]) -> str:
    """Write a session in which the commands were run one after the other, and return its path."""
    rows: list[dict[str, object]] = [{"type": "session_meta", "payload": {"id": name, "cwd": project.root}}]

    def add(**payload: object) -> None:
        rows.append({"timestamp": "2026-11-30T11:00:00Z", "type": "response_item", "payload": payload})

    add(type="message", role="user", content=[{"type": "input_text", "text": request}])
    for at, command in enumerate(commands):
        arguments = json.dumps({"command": ["bash", "-lc", command]})
        output = json.dumps({"output": "ok", "metadata": {"exit_code": 0}})
        add(type="function_call", name="shell", arguments=arguments, call_id=f"{name}{at}")
        add(type="function_call_output", call_id=f"{name}{at}", output=output)
    path = os.path.join(project.root, f"{name}.jsonl")
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def distil(
    project: Project, name: str, commands: list[str], *, is_dry: bool = False, language: str = "en"
) -> Distilled:
    """Distil one new session."""
    path = write_session(project, name, commands, REQUESTS[language])
    return distil_sessions(project, path, "", Options(mode="rules", is_dry=is_dry))


def habits(distilled: Distilled) -> list[str]:
    """Return the texts of the habits that were proposed."""
    return [c.text for c in distilled.candidates if c.rule == "repetitive_op"]


@pytest.mark.parametrize("language", REQUESTS)
def test_step_of_three_sessions_is_proposed_in_the_language_of_the_session(
    project: Project, language: str
) -> None:
    """Nobody needs to speak of it; it is surer with each further session, and stays one lesson."""
    first, second, third, fourth = (distil(project, f"s{n}", [HABIT], language=language) for n in range(4))
    assert habits(first) == habits(second) == []
    (text,) = habits(third)
    assert f"`{HABIT}`" in text
    (found,) = third.candidates
    assert (found.confidence, found.lang, found.source) == (0.5, language, "session codex s2")
    assert [(c.id, c.confidence) for c in fourth.candidates] == [(found.id, 0.55)]
    assert third.new == {found.id}
    assert fourth.new == set()
    assert third.sources == 1


@pytest.mark.parametrize(
    "steps",
    [["npm run build", "npm run migrate"], ["make build", "make migrate", "pm2 restart api"]],
)
@pytest.mark.parametrize("ran_apart", ["", "git status"])
def test_steps_that_follow_one_another_are_one_lesson(
    project: Project, steps: list[str], ran_apart: str
) -> None:
    """A sequence is told whole and once, in one command or in several, with the build that belongs to it."""
    joined = " && ".join(steps)
    ran = [ran_apart, *steps] if ran_apart else [joined]
    found = [distil(project, f"s{n}", ran) for n in range(3)][-1]
    (text,) = habits(found)
    assert f"`{joined}`" in text


@pytest.mark.parametrize(
    "command",
    [
        *("git status", "git commit -m 'x'", "git fetch origin", "gh pr checks 7", "kubectl get pods -w"),
        *("docker compose logs web", "docker ps", "sleep 30", "curl -s localhost/health", "rg todo src"),
        *("npm test", "npm run build", "pytest -q tests/it", "uv run --package a pytest b", "cargo build"),
        *("vim config.py", "python - <<'E'\nprint(1)\nE", "python -c 'print(1)'", "cd web", "mkdir -p out"),
        "for f in a b; do ./convert $f; done",
    ],
)
def test_navigation_polling_and_checks_are_no_habit(project: Project, command: str) -> None:
    """What everybody runs all day teaches nothing."""
    assert habits([distil(project, f"s{n}", [command] * 4) for n in range(4)][-1]) == []


def test_step_of_one_session_is_named_but_not_proposed(project: Project) -> None:
    """A loop of attempts is no habit, and `--rejected` says so."""
    found = distil(project, "s", [HABIT] * 5)
    assert habits(found) == []
    (rejected,) = [r for r in found.rejected if r.rule == "repetitive_op"]
    assert HABIT in rejected.text
    assert "5 times, but in 1 session" in rejected.reason


def test_same_session_read_again_counts_once(project: Project) -> None:
    """A log that is distilled anew does not make a habit of what was run once."""
    found = [distil(project, "s", [HABIT]) for _ in range(4)][-1]
    assert habits(found) == []


def test_dry_run_counts_nothing(project: Project) -> None:
    """Nothing is stored by a dry run, the counts included."""
    for n in range(4):
        distil(project, f"s{n}", [HABIT], is_dry=True)
    assert not os.path.exists(os.path.join(project.state_dir, FILE_NAME))


def test_counts_hold_no_word_of_a_command(project: Project) -> None:
    """A command may hold a secret: the file has digests alone."""
    distil(project, "s", ["deploy-tool --password hunter2hunter2 staging"])
    with open(os.path.join(project.state_dir, FILE_NAME), encoding="ascii") as stream:
        content = stream.read()
    assert "hunter2" not in content
    assert "deploy" not in content
    assert set(content) <= set('{}[]":,0123456789abcdef') | set("versionsteps")


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'{"version":1,"steps":{"a":3,"b":["x",7]}}', b"\xff"])
def test_damaged_counts_are_begun_anew(project: Project, damage: bytes) -> None:
    """A torn file costs the counts and nothing else."""
    os.makedirs(project.state_dir, exist_ok=True)
    with open(os.path.join(project.state_dir, FILE_NAME), "wb") as stream:
        stream.write(damage)
    assert habits([distil(project, f"s{n}", [HABIT]) for n in range(3)][-1])


def test_counts_are_bounded(tmp_path: os.PathLike[str]) -> None:
    """However many steps and sessions there are, the file stays small."""
    counted = {f"step number {n}": 1 for n in range(30_000)}
    habits_of = Habits(os.fspath(tmp_path))
    for n in range(40):
        habits_of.note(f"s{n}", {"make release": 1})
    habits_of.note("many", counted)
    habits_of.save()
    assert habits_of.of_run().sessions["make release"] == 32
    assert os.path.getsize(os.path.join(tmp_path, FILE_NAME)) < 2_000_000
