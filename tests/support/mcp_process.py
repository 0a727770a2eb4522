"""A real `memx mcp` process, spoken to in plain JSON-RPC: what it says on the wire, to the byte."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT_S = 60.0
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "Test Agent/1", "version": "1"},
}


class McpProcess:
    """The server in a folder; a context manager that ends it by closing its standard input."""

    def __init__(
        self, folder: Path, environ: dict[str, str], *arguments: str, prefix: tuple[str, ...] = ()
    ) -> None:
        """Start it; nothing is said yet."""
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "memx", "mcp", *arguments],
            cwd=folder,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines: list[bytes] = []
        self.errors = b""
        self._queue: queue.Queue[bytes] = queue.Queue()
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for thread in self._threads:
            thread.start()
        self._number = 0

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._queue.put(line)
        self._queue.put(b"")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def __enter__(self) -> Self:
        """Shake hands."""
        self.request("initialize", HELLO)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *exception: object) -> None:
        """End it."""
        self.close()

    def close(self) -> int:
        """Close standard input and return the exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(TIMEOUT_S)
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def send(self, message: object) -> None:
        """Send one message, or bytes as they are."""
        assert self.process.stdin is not None
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """Return the next message."""
        line = self._queue.get(timeout=TIMEOUT_S)
        assert line, self.errors
        return json.loads(line)

    def request(self, method: str, params: object = None) -> Any:
        """Send a request and return the whole response to it."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method}
        self.send(message if params is None else {**message, "params": params})
        while True:
            answer = self.receive()
            if answer.get("id") == self._number:
                return answer

    def call(self, name: str, **arguments: object) -> tuple[str, bool]:
        """Call a tool and return its text and whether it is an error."""
        answer = self.request("tools/call", {"name": name, "arguments": arguments})
        assert "result" in answer, answer
        (content,) = answer["result"]["content"]
        return content["text"], answer["result"].get("isError", False)

    def ok(self, name: str, **arguments: object) -> str:
        """Call a tool that must succeed and return its text."""
        text, is_error = self.call(name, **arguments)
        assert not is_error, text
        return text
