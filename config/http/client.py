"""The sender: any number of POSTs at once from one thread, over libcurl's multi interface."""

import resource
from collections.abc import Callable
from typing import Any, Final

import certifi
import pycurl

from config.http.exchange import Limits, Request, Result
from config.http.sockets import SocketWatch
from config.http.transfer import Transfer

# Enough for a kept connection to each of some thousand endpoints.
_MOST_CONNECTIONS: Final = 4096
# The open files that the rest of the process may need.
_OTHER_FILES: Final = 256


def max_connections() -> int:
    """Return how many connections this process can hold open within its limit of open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(16, min(_MOST_CONNECTIONS, files - _OTHER_FILES))


class Sender:
    """Sends requests side by side and returns their results.

    Call all methods but `wake` from one thread. The sender takes every request: the caller limits how many are in
    flight, in all and to one endpoint. Connections are kept for the next request to the same host over the same
    addresses. `most_connections` counts these too; by default it follows the process's limit of open files. `ca_file`
    is a PEM bundle, by default certifi's. `may_write` is called right before each request is written, after everything
    that may take time. If it says no, the request ends as `withheld`.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        ca_file: str | None = None,
        most_connections: int | None = None,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self._limits = limits or Limits()
        self._ca_file = ca_file or certifi.where()
        self._may_write = may_write
        self._sockets = SocketWatch()
        self._idle: list[Transfer] = []
        self._busy: dict[Any, Transfer] = {}  # by libcurl handle
        self.was_idle = False  # whether the last `poll` had nothing to do at first
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.follow)
        connections = most_connections or max_connections()
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, connections)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)

    @property
    def in_flight(self) -> int:
        """How many requests have no result yet."""
        return len(self._busy)

    def submit(self, request: Request) -> None:
        """Start a POST at the next `poll`. Raises ValueError for headers that no request can have."""
        transfer = self._idle.pop() if self._idle else self._make_transfer()
        try:
            transfer.load(request)
        except ValueError:
            self._idle.append(transfer)
            raise
        self._busy[transfer.curl] = transfer
        self._multi.add_handle(transfer.curl)

    def poll(self, timeout_s: float) -> list[Result]:
        """Let the requests go on, and return the results so far.

        Waits until something happens, `wake` is called or `timeout_s` is over. The list may be empty.
        """
        left_s = self._serve_timer(timeout_s)
        results = self._collect()  # an answer can be there as soon as the request is sent
        for descriptor, flags in self._sockets.wait(0.0 if results else left_s):
            self._multi.socket_action(descriptor, flags)
        self.was_idle = self._sockets.was_idle and not results
        self._serve_timer(timeout_s)
        return results + self._collect()

    def wake(self) -> None:
        """End the current `poll`, or the next one. Any thread may call this."""
        self._sockets.wake_up()

    def close(self) -> None:
        """Drop all connections; requests in flight never get a result."""
        for transfer in self._busy.values():
            self._multi.remove_handle(transfer.curl)
        self._multi.close()
        for transfer in (*self._idle, *self._busy.values()):
            transfer.curl.close()
        self._idle.clear()
        self._busy.clear()
        self._sockets.close()

    def _make_transfer(self) -> Transfer:
        return Transfer(self._limits, self._ca_file, self._sockets.note_new_socket, self._may_write)

    def _serve_timer(self, timeout_s: float) -> float:
        """Call libcurl if its timer has expired. Returns how long it can be left alone, at most `timeout_s`.

        The timer is read once a turn, because libcurl's timer callback would come twice with each request.
        """
        milliseconds = self._multi.timeout()
        if milliseconds == 0:
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
            milliseconds = self._multi.timeout()
        return timeout_s if milliseconds < 0 else min(timeout_s, milliseconds / 1000)

    def _collect(self) -> list[Result]:
        results: list[Result] = []
        more = True
        while more:
            more, succeeded, failed = self._multi.info_read()
            results += [self._finish(curl, 0) for curl in succeeded]
            results += [self._finish(curl, code) for curl, code, _text in failed]
        return results

    def _finish(self, curl: Any, code: int) -> Result:
        transfer = self._busy.pop(curl)
        self._multi.remove_handle(curl)
        self._idle.append(transfer)
        return transfer.finish(code)
