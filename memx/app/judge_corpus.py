"""Many texts a process, JSON lines in and out, so that a corpus can be judged without a process per item."""

from __future__ import annotations

import json
import sys

from memx.errors import EXIT_OK, MemxError, TranscriptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from memx.app.project import Project
    from memx.reflector import Reflection

LINE_LIMIT_BYTES = 64 << 20


def distil_lines(project: Project, path: str) -> int:
    """Read `{"id","kind","format","text"}` a line and answer `{"id","candidates"}`, in input order."""
    return _answer_lines(path, lambda item: _distil_item(project, item))


def compare_lines(project: Project, path: str) -> int:
    """Read `{"a","b"}` a line and answer one verdict a line, in input order; `id` is echoed."""
    return _answer_lines(path, lambda item: _compare_item(project, item))


def _answer_lines(path: str, answer: Callable[[dict[str, object]], dict[str, object]]) -> int:
    for number, line in enumerate(_read_lines(path), 1):
        try:
            item = json.loads(line)
            if not isinstance(item, dict):
                raise TypeError  # noqa: TRY301 (every shape that is no object is one case)
            result = answer(item)
        except (ValueError, TypeError, RecursionError) as error:
            result = {"error": {"message": f"not a JSON object: {error}"[:200], "path": path, "line": number}}
        except MemxError as error:
            result = {"id": item.get("id"), "error": {"message": str(error), "path": path, "line": number}}
        sys.stdout.write(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n")
    return EXIT_OK


def _read_lines(path: str) -> Iterator[bytes]:
    if path == "-":
        yield from _lines_of(sys.stdin.buffer)
        return
    try:
        with open(path, "rb") as stream:
            yield from _lines_of(stream)
    except OSError as error:
        raise MemxError(f"cannot read the lines ({error.strerror})", path=path) from error


def _lines_of(stream: IO[bytes]) -> Iterator[bytes]:
    while line := stream.readline(LINE_LIMIT_BYTES):
        if line.strip():
            yield line


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

    text = str(item.get("text", ""))
    if item.get("kind", "commit") == "commit":
        return project.reflector.commit(Commit(sha="", message=text))
    try:
        session = parse_text(text, str(item.get("format") or "") or None)
        parts = [
            project.reflector.session(events, source=f"session {session.format}")
            for events in session.batches()
        ]
    except TranscriptError:
        return Reflection()
    found = {candidate.id: candidate for part in reversed(parts) for candidate in part.candidates}
    return Reflection(tuple(found.values()), tuple(r for part in parts for r in part.rejected))


def _compare_item(project: Project, item: dict[str, object]) -> dict[str, object]:
    from memx.app.curate import compare_texts

    verdict = compare_texts(project, [(str(item.get("a", "")), str(item.get("b", "")))])[0]
    return {
        "id": item.get("id"),
        "similarity": verdict.similarity,
        "cosine": verdict.cosine,
        "action": verdict.action,
        "contradiction": verdict.contradiction,
        "veto": list(verdict.veto),
    }
