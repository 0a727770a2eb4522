"""A model hub on this machine: the answers of the real one that a download needs, and a record of what was asked."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

REVISION = "0123456789abcdef0123456789abcdef01234567"


class HubServer:
    """Serves the files of one folder as the model `name`."""

    def __init__(self, name: str, folder: Path) -> None:
        """Remember what is served; nothing runs before `with`."""
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            """Answers the listing of a model and its files."""

            def do_HEAD(self) -> None:
                """Describe a file."""
                self._answer()

            def do_GET(self) -> None:
                """Send the listing or a file."""
                self._answer()

            def _answer(self) -> None:
                hub.asked.append(self.path)
                file = folder / os.path.basename(self.path)
                names = sorted(os.listdir(folder))
                if self.path.startswith(f"/api/models/{name}/tree/"):
                    tree = [
                        {"type": "file", "path": entry, "size": (folder / entry).stat().st_size, "oid": entry}
                        for entry in names
                    ]
                    self._send(json.dumps(tree).encode(), "application/json")
                elif self.path.startswith(f"/api/models/{name}"):
                    listing = {
                        "id": name,
                        "sha": REVISION,
                        "siblings": [{"rfilename": entry} for entry in names],
                    }
                    self._send(json.dumps(listing).encode(), "application/json")
                elif self.path.startswith(f"/{name}/resolve/") and file.is_file():
                    self._send(file.read_bytes(), "application/octet-stream")
                else:
                    self.send_error(404)

            def _send(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
                self.send_header("X-Repo-Commit", REVISION)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Serve in a thread."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
