"""Ends a call at its deadline, in whatever it waits for: a handshake, the headers, or a slowly dripping body."""

import contextlib
import socket
import threading
import time
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Final, Self

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
