"""A scripted server that speaks OpenAI's chat protocol on the loopback interface, and keeps what it was sent."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Script = Callable[["LlmServer", str], str]

NOTE = re.compile(r"<note n=(\d+)>\n(.*?)\n</note>", re.DOTALL)
MODEL = "scripted"


class HttpFailure(Exception):  # noqa: N818 (a status, raised by a script)
    """A script's wish to answer with an HTTP error."""

    def __init__(self, status: int) -> None:
        """Take the status."""
        super().__init__(status)
        self.status = status


class LlmServer:
    """Answers every prompt by a script `(server, prompt text) -> answer text`; a context manager."""

    def __init__(self, script: Script) -> None:
        """Take the script; the port is the system's choice."""
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def sent(self) -> list[str]:
        """The data of each prompt, without its instructions."""
        return [body["messages"][-1]["content"] for body in self.bodies]

    @property
    def notes(self) -> list[str]:
        """Every note that was to be judged."""
        return [text for prompt in self.sent for _, text in NOTE.findall(prompt)]

    def configure(self, folder: Path, *, schema: bool = True) -> dict[str, str]:
        """Write the llm library's configuration for this server; return the environment that names it."""
        return configure(folder, self.url, schema=schema)

    def __enter__(self) -> Self:
        """Serve in a thread."""
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Let what hangs go, and stop."""
        self.released.set()
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            """One request."""

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append(body)
                try:
                    text, status = server.script(server, body["messages"][-1]["content"]), 200
                except HttpFailure as failure:
                    text, status = "refused", failure.status
                usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
                message = {"role": "assistant", "content": text}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                answer = {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 1,
                    "model": MODEL,
                    "choices": [choice],
                    "usage": usage,
                }
                data = json.dumps(answer if status == 200 else {"error": {"message": text}}).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    return  # the client has gone

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler


def configure(folder: Path, url: str, *, schema: bool = True, model: str = MODEL) -> dict[str, str]:
    """Write `extra-openai-models.yaml` for a server; return the environment that names its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        f"- model_id: {model}",
        f"  model_name: {model}",
        f"  api_base: {url}",
        f"  supports_schema: {str(schema).lower()}",
    ]
    (folder / "extra-openai-models.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"LLM_USER_PATH": str(folder)}


def judge(score: int, rewrite: Callable[[str], str] = lambda text: text) -> Script:
    """Return a script that gives every note a score and a wording."""

    def script(_server: LlmServer, prompt: str) -> str:
        answers = [
            {"n": int(number), "score": score, "text": rewrite(text)} for number, text in NOTE.findall(prompt)
        ]
        return json.dumps({"answers": answers})

    return script
