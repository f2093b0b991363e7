"""Makes requests in this process directly to a WSGI application, and measures their CPU time."""

import io
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test import override_settings

NANOSECONDS = 1e9


class Failed(Exception):
    """The answer to a request was not 200."""


def handler(*, urlconf: str, middleware: list[str] | None = None) -> WSGIHandler:
    """Build an application as a web process does; without `middleware` it has the product's middleware."""
    changes: dict[str, Any] = {} if middleware is None else {"MIDDLEWARE": middleware}
    with override_settings(ROOT_URLCONF=urlconf, **changes):
        return WSGIHandler()


def get(application: WSGIHandler, path: str, key: str) -> bytes:
    """Make one GET request. Raises `Failed` for any answer but 200."""
    return _call(application, "GET", path, key, b"")


def post(application: WSGIHandler, path: str, key: str, body: bytes) -> bytes:
    """Make one POST request with JSON. Raises `Failed` for any answer but 200."""
    return _call(application, "POST", path, key, body)


def _call(application: WSGIHandler, method: str, path: str, key: str, body: bytes) -> bytes:
    path, _, query = path.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)) if body else "",
        "PATH_INFO": path,
        "SCRIPT_NAME": "",
        "QUERY_STRING": query,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1:8000",
        "HTTP_ACCEPT": "*/*",
        "HTTP_USER_AGENT": "bench",
        "HTTP_X_API_KEY": key,
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
    }
    status: list[str] = []
    response = application(environ, lambda line, _: status.append(line))  # type: ignore[arg-type]  # WSGI's optional third argument and write() are not used
    answer = b"".join(response)
    response.close()
    if not status[0].startswith("200"):
        raise Failed(f"{path}: {status[0]} {answer[:200]!r}")
    return answer


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds for each request: this process's CPU, PostgreSQL's CPU, wall-clock time."""

    python: float
    database: float
    wall: float

    @property
    def cpu(self) -> float:
        return self.python + self.database


def backend_cpu_seconds() -> float:
    """Give the CPU time of our connection's PostgreSQL process; 0 if the system does not report it."""
    file = Path(f"/proc/{_backend_pid()}/schedstat")
    return int(file.read_text().split()[0]) / NANOSECONDS if file.exists() else 0.0


def _backend_pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def cost_of(application: WSGIHandler, path: str, keys: list[str], requests: int) -> Cost:
    """Give the mean cost of `requests` requests, each with the next key."""
    database, python, wall = backend_cpu_seconds(), time.process_time(), time.perf_counter()
    for number in range(requests):
        get(application, path, keys[number % len(keys)])
    ended = (time.process_time() - python, backend_cpu_seconds() - database, time.perf_counter() - wall)
    return Cost(*(seconds * 1000 / requests for seconds in ended))
