"""Many texts a process, JSON lines in and out, so that a corpus can be judged without a process per item."""

from __future__ import annotations

import json
import sys

from memx.errors import EXIT_EXPECTED, EXIT_OK, MemxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from memx.app.project import Project
    from memx.reflector import Reflection

LINE_LIMIT_BYTES = 64 << 20


def distil_lines(project: Project, path: str) -> int:
    """Read `{"id","kind","format","text"}` a line and answer `{"id","candidates"}`, in input order.

    Returns the exit code: 1 when a line could not be answered. Such a line gets
    an `error` with its place, and the others go on.
    """
    return _answer_lines(path, lambda item: _distil_item(project, item))


def compare_lines(project: Project, path: str) -> int:
    """Read `{"a","b"}` a line and answer one verdict a line, in input order; `id` is echoed, errors as above."""
    return _answer_lines(path, lambda item: _compare_item(project, item))


def _answer_lines(path: str, answer: Callable[[dict[str, object]], dict[str, object]]) -> int:
    code = EXIT_OK
    for number, line in _read_lines(path):
        item: object = None
        try:
            item = json.loads(line)
            if not isinstance(item, dict):
                raise MemxError("not a JSON object")  # noqa: TRY301 (answered like every other error)
            result = answer(item)
        except (ValueError, RecursionError) as error:
            result = _error(None, f"not a JSON object: {error}"[:200], path, number)
        except MemxError as error:
            result = _error(item, error.message, path, number)
        code = EXIT_EXPECTED if "error" in result else code
        sys.stdout.write(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n")
    return code


def _error(item: object, message: str, path: str, number: int) -> dict[str, object]:
    known = {"id": item.get("id")} if isinstance(item, dict) else {}
    return {**known, "error": {"message": message, "path": path, "line": number}}


def _text_of(item: dict[str, object], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        raise MemxError(f"no {key}" if value is None else f"{key} is not a text")
    return value


def _read_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers in the file."""
    if path == "-":
        yield from _lines_of(sys.stdin.buffer)
        return
    try:
        with open(path, "rb") as stream:
            yield from _lines_of(stream)
    except OSError as error:
        raise MemxError(f"cannot read the lines ({error.strerror})", path=path) from error


def _lines_of(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(LINE_LIMIT_BYTES):
        number += 1
        if line.strip():
            yield number, line


def _distil_item(project: Project, item: dict[str, object]) -> dict[str, object]:
    from memx.app.documents import candidate_document

    reflection = _reflect(project, item)
    return {
        "id": item.get("id"),
        "candidates": [candidate_document(candidate) for candidate in reflection.candidates],
    }


def _reflect(project: Project, item: dict[str, object]) -> Reflection:
    from memx.model import Commit
    from memx.reflector import Reflection
    from memx.transcripts import parse_text

    text = _text_of(item, "text")
    kind = item.get("kind", "commit")
    if kind == "commit":
        return project.reflector.commit(Commit(sha="", message=text))
    if kind != "session":
        raise MemxError(f"there is no kind {str(kind)[:40]!r}: commit or session")
    if not text.strip():
        return Reflection()
    session = parse_text(text, str(item.get("format") or "") or None)
    parts = [
        project.reflector.session(events, source=f"session {session.format}") for events in session.batches()
    ]
    found = {candidate.id: candidate for part in reversed(parts) for candidate in part.candidates}
    return Reflection(tuple(found.values()), tuple(r for part in parts for r in part.rejected))


def _compare_item(project: Project, item: dict[str, object]) -> dict[str, object]:
    from memx.app.curate import compare_texts
    from memx.app.documents import verdict_document

    verdict = compare_texts(project, [(_text_of(item, "a"), _text_of(item, "b"))])[0]
    return {"id": item.get("id"), **verdict_document(verdict)}
