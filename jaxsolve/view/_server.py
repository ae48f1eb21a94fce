"""The page and its data over HTTP, for this machine only.

The server listens on 127.0.0.1. It answers only requests whose Host is its own address, so that no
other site can reach it under a name of its own (DNS rebinding), and takes changes only as JSON from
its own page.
"""

from __future__ import annotations

import http.server
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jaxsolve.view._export import page
from jaxsolve.view._position import Lock, Viewable, path_of, plain
from jaxsolve.view._session import Session

LARGEST_BODY = 1 << 20
"""Bytes of the longest request that is read."""

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
)


def serve(shown: Viewable, *, port: int = 0) -> http.server.ThreadingHTTPServer:
    """Returns a server of a solved game on 127.0.0.1; `serve_forever` runs it.

    Args:
        shown: the solved game.
        port: 0 for one that is free; `server_address[1]` is the port.

    Raises:
        OSError: the port is taken.
    """
    session = Session(shown)

    class Handler(_Handler):
        pass

    Handler.session = session
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    Handler.hosts = tuple(
        f"{name}:{server.server_address[1]}" for name in ("127.0.0.1", "localhost")
    )
    return server


class _Handler(http.server.BaseHTTPRequestHandler):
    session: Session
    hosts: tuple[str, ...]
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """Answers with the page or with data."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Changes locks, starts and stops runs."""
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Writes nothing: requests are not news."""

    def _answer(self, respond: Any) -> None:
        try:
            if self.headers.get("Host") not in self.hosts:
                return self._refuse(403, "this server answers to its own address only")
            respond()
        except ValueError as error:
            self._refuse(400, str(error))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Exception as error:  # a fault of ours: the page says so instead of waiting
            self._refuse(500, f"{type(error).__name__}: {error}")

    def _get(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/":
            return self._send(200, "text/html; charset=utf-8", page(None).encode())
        if url.path == "/api/about":
            return self._json(self.session.shown.about())
        if url.path == "/api/status":
            return self._json(self.session.status())
        if url.path == "/api/position":
            return self._json(self.session.position(_path(url.query)))
        self._refuse(404, f"there is no {url.path}")

    def _post(self) -> None:
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in self.hosts]:
            self.close_connection = True  # the body is not read
            return self._refuse(403, "changes come from the page of this server only")
        if self.headers.get_content_type() != "application/json":
            self.close_connection = True
            return self._refuse(415, "send application/json")
        body = self._body()
        actions = {
            "/api/lock": lambda: self.session.lock(Lock.of(body)),
            "/api/unlock": lambda: self.session.unlock(body.get("index")),
            "/api/solve": lambda: self.session.solve(body.get("iterations")),
            "/api/stop": self.session.stop,
        }
        if self.path not in actions:
            return self._refuse(404, f"there is no {self.path}")
        actions[self.path]()
        self._json(self.session.status())

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            self.close_connection = True
            raise ValueError(f"the body has a length of at most {LARGEST_BODY} bytes")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except RecursionError:
            raise ValueError("the body is nested too deeply") from None
        if not isinstance(body, dict):
            raise ValueError("the body is a JSON object")
        return body

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(status, "application/json", json.dumps(plain(value)).encode())

    def _refuse(self, status: int, message: str) -> None:
        self._json({"error": message}, status)

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        self.wfile.write(content)


def _path(query: str) -> tuple[str, ...]:
    text = parse_qs(query).get("path", ["[]"])[0]
    try:
        return path_of(json.loads(text))
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"path is a JSON list of names, not {text[:80]!r}") from None
