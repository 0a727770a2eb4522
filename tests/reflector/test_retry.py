"""Retries: the changed command, the other program, the step before; and which failure a text speaks of."""

from __future__ import annotations

import pytest

from tests.reflector.test_session import ran, reflect, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.model import Event
    from memx.reflector import Reflector

REQUEST = {
    "en": "Please get the project running.",
    "zh": "请把这个项目跑起来。",
    "ja": "このプロジェクトを動くようにしてください。",
    "es": "Por favor, pon en marcha el proyecto.",
}
MISSING = {
    "en": "bash: python: command not found",
    "zh": "bash: python：未找到命令",
    "ja": "bash: python: コマンドが見つかりません",
    "es": "bash: python: orden no encontrada",
}
CAUSE = {
    "en": "The root cause is that multipart_chunksize is below 5 MB, so S3 rejects the parts; set it to 8MB.",
    "zh": "根因是 multipart_chunksize 小于 5 MB，S3 因此拒绝这些分片，必须设为 8MB。",
    "ja": "原因は multipart_chunksize が 5 MB 未満で S3 がパートを拒否することで、8MB に設定する必要がある。",
    "es": "La causa es que multipart_chunksize está por debajo de 5 MB y S3 las rechaza; hay que ponerlo en 8MB.",
}
LANGUAGES = pytest.mark.parametrize("language", REQUEST)


@LANGUAGES
@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        ("python manage.py migrate", "python3 manage.py migrate"),
        ("docker-compose up -d web", "docker compose up -d web"),
        ("pip install -r dev.txt", "python3 -m pip install -r dev.txt"),
    ],
)
def test_missing_program_replaced_with_the_same_arguments_is_a_retry(
    reflector: Reflector, language: str, failed: str, worked: str
) -> None:
    """A shell that knows no such program says so in its language; the arguments tell what took its place."""
    error = MISSING[language].replace("python", failed.split(maxsplit=1)[0])
    (found,) = reflect(
        reflector,
        said("user", REQUEST[language]),
        ran(failed, error, exit_code=127),
        ran(worked, "OK"),
    ).candidates
    assert found.rule == "retry_success"
    assert f"`{worked}`" in found.text
    assert f"`{failed}`" in found.text


@pytest.mark.parametrize(
    ("failed", "error", "worked"),
    [
        ("git push", "fatal: The current branch topic has no upstream branch.", "git push -u origin topic"),
        ("git pull", "fatal: Not possible to fast-forward, aborting.", "git pull --rebase"),
        ("gh pr create", "error: could not find any commits", "gh pr create --head topic"),
        ("python3 tool.py x", "SyntaxError: invalid syntax", "python3.12 tool.py x"),
    ],
)
def test_changed_command_that_worked_is_a_retry(
    reflector: Reflector, failed: str, error: str, worked: str
) -> None:
    """Commands of git and of forges that change something are as much an attempt as any other."""
    result = reflect(
        reflector,
        said("user", "Go on."),
        ran(failed, error, exit_code=1),
        ran(worked, "done"),
        said("assistant", "Done."),
    )
    assert [c.rule for c in result.candidates] == ["retry_success"]
    assert f"`{worked}`" in result.candidates[0].text


@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        ("git status src", "git status src tests"),
        ("docker compose logs web", "docker compose logs web api"),
        ("kubectl get pods", "kubectl get pods -A"),
        ("gh pr view 7", "gh pr view 7 --web"),
        ("make docs", "black docs"),
    ],
)
def test_looking_again_or_at_another_thing_is_no_retry(
    reflector: Reflector, failed: str, worked: str
) -> None:
    """What only looks teaches nothing, and another program where none is missing is another attempt."""
    result = reflect(
        reflector, said("user", "Go on."), ran(failed, "error: not found", exit_code=1), ran(worked, "done")
    )
    assert result.candidates == ()


@LANGUAGES
def test_step_between_failure_and_success_of_one_command_is_the_lesson(
    reflector: Reflector, language: str
) -> None:
    """Where the very same command works later, what ran between made it work."""
    (found,) = reflect(
        reflector,
        said("user", REQUEST[language]),
        ran("cargo build", "error: linker `cc` not found", exit_code=101),
        ran("ls /usr/bin", "ld"),
        ran("apt-get install -y build-essential", "ok"),
        ran("cargo build", "Finished"),
    ).candidates
    assert found.rule == "retry_success"
    assert found.lang == language
    assert "`apt-get install -y build-essential`" in found.text
    assert "`cargo build`" in found.text


def test_edit_or_check_between_failure_and_success_is_no_step(reflector: Reflector) -> None:
    """An edit is the remedy then, and a test or a pause remedies nothing."""
    for between in (
        ran("a.py\n-x\n+y", "ok", action="edit", tool="edit"),
        ran("sed -i s/80/8080/ site.conf && make clean", "ok"),
        ran("cat > site.conf <<'E'\nport 80\nE\nmake clean", "ok"),
        ran("echo port 80 > site.conf; make clean", "ok"),
        ran("sleep 5", ""),
        ran("pytest tests/unit", "3 passed"),
    ):
        result = reflect(
            reflector,
            said("user", "Go on."),
            ran("make site", "Error: port in use", exit_code=2),
            between,
            ran("make site", "done"),
        )
        assert result.candidates == ()


@LANGUAGES
def test_lesson_gets_the_symptom_that_its_words_follow(reflector: Reflector, language: str) -> None:
    """An earlier failure that a retry resolved is a lesson of its own, never another one's symptom."""
    found = reflect(
        reflector,
        said("user", REQUEST[language]),
        ran("python manage.py migrate", MISSING[language], exit_code=127),
        ran("python3 manage.py migrate", "OK"),
        ran("pytest tests/upload", "E  botocore.EntityTooSmall: part too small", exit_code=1),
        said("assistant", CAUSE[language], "m1"),
        ran("pytest tests/upload", "1 passed"),
    ).candidates
    (caused,) = [c for c in found if "multipart_chunksize" in c.text]
    (retried,) = [c for c in found if c is not caused]
    assert "EntityTooSmall" in caused.text
    assert MISSING[language] not in caused.text
    assert "`python3 manage.py migrate`" in retried.text


def test_of_two_resolved_failures_neither_is_the_symptom_of_other_words(reflector: Reflector) -> None:
    """Where nothing tells which failure a text is about, it gets none."""
    (found,) = [
        c
        for c in reflect(
            reflector,
            said("user", REQUEST["en"]),
            ran("make proto", "protoc: error: no such plugin", exit_code=1),
            ran("web/app.ts\n-a\n+b", "ok", action="edit"),
            ran("make proto", "ok"),
            ran("go vet ./...", "vet: undefined: Foo", exit_code=1),
            ran("b.go\n-a\n+b", "ok", action="edit"),
            ran("go vet ./...", "ok"),
            said("assistant", CAUSE["en"]),
        ).candidates
        if "multipart" in c.text
    ]
    assert "protoc" not in found.text
    assert "undefined" not in found.text


def test_calls_without_a_word_give_their_retry(reflector: Reflector) -> None:
    """Formats that log hardly any prose give the retry all the same."""
    events: list[Event] = [
        said("user", "First time using just instead of make here, and it is a lot simpler."),
        *ran("terraform apply -auto-approve", "Error: state lock", exit_code=1),
        *ran("terraform apply -auto-approve -lock-timeout=5m", "Apply complete"),
    ]
    assert {c.rule for c in reflect(reflector, events).candidates} == {"new_tool", "retry_success"}


@LANGUAGES
def test_common_words_of_errors_tell_no_failure_apart(reflector: Reflector, language: str) -> None:
    """That both speak of an error that failed is no reason to take one for the symptom of the other."""
    found = reflect(
        reflector,
        said("user", REQUEST[language]),
        ran("make proto", "error: failed to run tests", exit_code=1),
        ran("web/app.ts\n-a\n+b", "ok", action="edit"),
        ran("make proto", "ok"),
        ran("pytest tests/upload", "E  botocore.EntityTooSmall: part too small", exit_code=1),
        said("assistant", f"{CAUSE[language]} (error, failed tests)"),
        ran("pytest tests/upload", "1 passed"),
    ).candidates
    (caused,) = [c for c in found if "multipart_chunksize" in c.text]
    assert "failed to run tests" not in caused.text


def test_failure_that_was_overcome_gives_its_retry_once(reflector: Reflector) -> None:
    """A later turn with the same program does not make a second lesson of an old failure."""
    found = reflect(
        reflector,
        said("user", "Build it."),
        ran("docker build .", "ERROR: failed to solve: no match for platform", exit_code=1),
        ran("docker build --platform linux/amd64 .", "done"),
        ran("make push", "error: denied", exit_code=1),
        ran("ls", "a"),
        said("user", "Go on."),
        ran("docker build -q .", "done"),
    ).candidates
    assert [c.text.count("platform linux/amd64") for c in found if "docker" in c.text] == [1]


def test_long_command_is_told_by_the_step_that_changed(reflector: Reflector) -> None:
    """Nobody reads a command of two lines: the step with what is new says it."""
    setup = " && ".join(f"export NAME_{n}=/opt/tools/of/the/build/number/{n}" for n in range(5))
    (found,) = reflect(
        reflector,
        said("user", "Go on."),
        ran(f"{setup} && terraform apply", "Error: state lock", exit_code=1),
        ran(f"{setup} && terraform apply -lock-timeout=5m", "done"),
    ).candidates
    assert "`terraform apply -lock-timeout=5m`" in found.text
    assert "NAME_1" not in found.text
