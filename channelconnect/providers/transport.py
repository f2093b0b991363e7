"""The HTTP client of calls to the Graph API: bounded in time and size, on kept connections."""

import contextlib
import socket
import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from types import TracebackType
from typing import Any, Final, Self

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_current: Final[ContextVar["Deadline | None"]] = ContextVar("deadline", default=None)


class Deadline:
    """Shuts down the sockets that this thread uses inside the block once the seconds are over.

    A socket's own timeout restarts with each byte, so it does not bound the call. Name look-ups are left to the
    resolver.
    """

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._ended = False
        self._lines: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(seconds, 0.0), self._pass)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._token: Token[Deadline | None] = _current.set(self)
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._token)
        self._timer.cancel()
        with self._lock:
            self._ended = True
            for line in self._lines:
                line.close()

    def watch(self, line: socket.socket) -> None:
        """Add a connection's socket. It keeps a second handle, because the connection may hand over its own."""
        own = socket.fromfd(line.fileno(), line.family, line.type)
        with self._lock:
            self._lines.append(own)
            if self.passed:
                _shut_down(own)

    def _pass(self) -> None:
        with self._lock:
            if not self._ended:
                self.passed = True
                for line in self._lines:
                    _shut_down(line)


def _shut_down(line: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the other side has closed it first
        line.shutdown(socket.SHUT_RDWR)


def _watch(line: socket.socket | None) -> None:
    deadline = _current.get()
    if deadline is not None and line is not None:
        deadline.watch(line)


class WatchedConnection(HTTPConnection):
    """Reports its socket to the deadline: a new socket before the first byte, a reused one at each request."""

    def _new_conn(self) -> socket.socket:
        line = super()._new_conn()
        _watch(line)
        return line

    def request(self, *args: Any, **options: Any) -> None:
        _watch(self.sock)
        super().request(*args, **options)


class WatchedSecureConnection(WatchedConnection, HTTPSConnection):
    pass


class WatchedPool(HTTPConnectionPool):
    ConnectionCls = WatchedConnection


class WatchedSecurePool(HTTPSConnectionPool):
    ConnectionCls = WatchedSecureConnection


class WatchedAdapter(HTTPAdapter):
    """Makes a session's connections obey deadlines."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": WatchedPool, "https": WatchedSecurePool}


class Budget:
    """The seconds that an operation with several calls may take in all."""

    def __init__(self, seconds: float) -> None:
        self.started = time.monotonic()
        self.seconds = seconds

    @property
    def spent(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        return max(self.seconds - self.spent, 0.0)


# Name, content and content type.
UploadedFile = tuple[str, bytes, str]
CHUNK: Final = 16 * 1024
# A middlebox may drop an idle connection silently, and an authorization code must not be lost on such a connection.
LONGEST_IDLE: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTimeouts:
    """Seconds that calls of the Graph API may take: `whole` for one call, `operation` for all calls of one operation.

    `body` is in bytes; `attempts` includes the first.
    """

    connect: float = 3.0
    read: float = 10.0
    whole: float = 15.0
    operation: float = 40.0
    body: int = 2 * 1024 * 1024
    attempts: int = 3
    pause: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    json: Mapping[str, object] | None = field(default=None, repr=False)
    files: Mapping[str, UploadedFile] | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class NoReply(Exception):
    """No usable reply came. `reason` is one of our codes, because the provider's address may contain secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Transport:
    """Sends requests without redirects, cookies, or proxies and password files from the environment.

    Threads may share it.
    """

    def __init__(self, limits: CallTimeouts) -> None:
        self.limits = limits
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        # An answer is compressed only if the request allows it. So the cap on bytes is also a cap on memory.
        self._session.headers.update({"Accept": "application/json", "Accept-Encoding": "identity"})
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, WatchedAdapter())
        self._last_use = time.monotonic()

    def send(self, request: Request, *, seconds: float) -> Reply:
        """Send a request once and return the reply within the seconds. Raises `NoReply`."""
        self._leave_idle_connections()
        with Deadline(seconds) as deadline:
            try:
                reply = self._exchange(request)
            except requests.RequestException as error:
                # The errors' texts and chains quote whole addresses, with the secrets in them.
                raise NoReply(_reason(error, deadline)) from None
        if deadline.passed:
            raise NoReply("deadline")
        return reply

    def _exchange(self, request: Request) -> Reply:
        headers = {"Authorization": f"Bearer {request.token}"} if request.token else {}
        with self._session.request(
            request.method,
            request.url,
            params=request.params,
            data=request.form,
            json=request.json,
            files=request.files,
            headers=headers,
            timeout=(self.limits.connect, self.limits.read),
            allow_redirects=False,
            stream=True,
        ) as response:
            return Reply(response.status_code, response.headers, self._body(response))

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        for chunk in response.iter_content(CHUNK):
            body += chunk
            if len(body) > self.limits.body:
                raise NoReply("too_large")
        return bytes(body)

    def _leave_idle_connections(self) -> None:
        now = time.monotonic()
        if now - self._last_use > LONGEST_IDLE:
            self._session.close()
        self._last_use = now


def _reason(error: requests.RequestException, deadline: Deadline) -> str:
    if deadline.passed:
        return "deadline"
    if isinstance(error, requests.ConnectTimeout):
        return "connect_timeout"
    if isinstance(error, requests.Timeout):
        return "timeout"
    return "connection"
