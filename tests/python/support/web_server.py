"""An HTTP server of a test."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class WebServer:
    """Keeps what is posted to it, and answers as it is told: 200, unless `answers` are
    left. None is an answer that does not come. Use as a context manager."""

    answers: list[int | None] = field(default_factory=list)
    posted: list[dict[str, Any]] = field(default_factory=list)

    def __enter__(self) -> WebServer:
        owner = self
        self._closing = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.posted.append(
                    {
                        "path": self.path,
                        "type": self.headers["Content-Type"],
                        "json": json.loads(body),
                    }
                )
                answer = owner.answers.pop(0) if owner.answers else 200
                if answer is None:
                    owner._closing.wait()
                    return
                self.send_response(answer)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self._server.server_port}{path}"
