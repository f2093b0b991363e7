"""Sends any number of requests at once from one thread, over libcurl's multi interface, and downloads files."""

import hashlib
import resource
import selectors
import socket
from collections.abc import Callable
from typing import IO, Any, Final, NamedTuple

import certifi
import pycurl

from config.http import error_codes
from config.http.guard import VettedTarget
from config.http.transfer import DuplicatedSocket, Limits, Peer, Request, Result, Transfer, route_to

_SLOWEST_BYTES_A_SECOND: Final = 512
_SLOW_SECONDS: Final = 10
_CONNECT_MS: Final = 5_000


class Downloaded(NamedTuple):
    """The outcome. `error` is None if the whole file came with a 2xx status and within its limits."""

    status: int | None
    error: str | None
    size: int
    sha256: bytes
    content_type: str


class _Taking:
    """Counts the data, and stops at the limit."""

    def __init__(self, into: IO[bytes], most_bytes: int, vetted: VettedTarget) -> None:
        self.into, self.most_bytes, self.vetted = into, most_bytes, vetted
        self.size, self.digest, self.is_too_large = 0, hashlib.sha256(), False

    def take(self, data: bytes) -> int:
        self.size += len(data)
        if self.size > self.most_bytes:
            self.is_too_large = True
            return 0
        self.digest.update(data)
        self.into.write(data)
        return len(data)

    def open_socket(self, _purpose: int, peer: Peer) -> socket.socket | int:
        """Refuse any address that was not vetted."""
        if peer.addr[0] not in self.vetted.addresses:
            return int(pycurl.SOCKET_BAD)
        return DuplicatedSocket(peer.family, peer.socktype, peer.protocol)


def download(
    vetted: VettedTarget, into: IO[bytes], *, headers: tuple[str, ...] = (), most_bytes: int, seconds: float
) -> Downloaded:
    """Fetch a URL into a file. A redirect counts like any other answer that is not a 2xx."""
    taking = _Taking(into, most_bytes, vetted)
    route = route_to(vetted.addresses, vetted.target.port)
    options: dict[int, object] = {
        pycurl.URL: vetted.target.url,
        pycurl.HTTPHEADER: [*headers, "Accept-Encoding: identity"],
        pycurl.CONNECT_TO: route.connect_to,
        pycurl.RESOLVE: route.resolve,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.PROXY: "",
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        pycurl.NOSIGNAL: 1,
        pycurl.CAINFO: certifi.where(),
        pycurl.SSLVERSION: pycurl.SSLVERSION_TLSv1_2,
        pycurl.TIMEOUT_MS: int(seconds * 1000),
        pycurl.CONNECTTIMEOUT_MS: _CONNECT_MS,
        pycurl.LOW_SPEED_LIMIT: _SLOWEST_BYTES_A_SECOND,
        pycurl.LOW_SPEED_TIME: _SLOW_SECONDS,
        pycurl.OPENSOCKETFUNCTION: taking.open_socket,
        pycurl.WRITEFUNCTION: taking.take,
    }
    curl: Any = pycurl.Curl()
    try:
        for option, value in options.items():
            curl.setopt(option, value)
        return _perform(curl, taking)
    finally:
        curl.close()


def _perform(curl: Any, taking: _Taking) -> Downloaded:
    code = 0
    try:
        curl.perform()
    except pycurl.error as fault:
        code = fault.args[0]
    said = curl.getinfo(pycurl.RESPONSE_CODE) or None
    error = error_codes.of_curl_code(code, sent=curl.getinfo(pycurl.REQUEST_SIZE) > 0) if code else None
    if taking.is_too_large:
        error = error_codes.TOO_LARGE
    elif error is None:
        error = error_codes.of_status(said) if said else error_codes.INVALID_ANSWER
    content_type = (curl.getinfo(pycurl.CONTENT_TYPE) or "").partition(";")[0].strip().lower()
    return Downloaded(said, error, taking.size, taking.digest.digest(), content_type)


_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_EVENTS: Final[dict[int, int]] = {
    pycurl.POLL_NONE: 0,
    pycurl.POLL_IN: _READ,
    pycurl.POLL_OUT: _WRITE,
    pycurl.POLL_INOUT: _READ | _WRITE,
}
_CURL_FLAGS: Final[dict[int, int]] = {
    _READ: pycurl.CSELECT_IN,
    _WRITE: pycurl.CSELECT_OUT,
    _READ | _WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}


class SocketWatch:
    """Watches the sockets that libcurl asks for, with as few system calls as possible.

    libcurl lets go of a socket after each request, and asks for it again with the next request on the same connection.
    So a socket that was let go stays registered: it is parked. Once another socket was opened, it may have the number
    of a parked one, so a parked socket is registered anew when it comes back.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._watched: dict[int, int] = {}  # descriptor to events
        self._parked: dict[int, int] = {}  # descriptor to the generation in which it was let go
        self._generation = 0
        self.was_idle = False  # whether the last `wait` found nothing ready at first
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._selector.register(self._wake_reader, _READ)

    def note_new_socket(self) -> None:
        """Call this whenever libcurl opens a socket."""
        self._generation += 1

    def follow(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        """libcurl's socket callback."""
        if what == pycurl.POLL_REMOVE:
            self._parked[descriptor] = self._generation
            return
        still_its_own = self._parked.pop(descriptor, self._generation) == self._generation
        wanted = _EVENTS[what]
        if still_its_own and self._watched.get(descriptor) == wanted:
            return
        # Registered anew, not modified: an exception in this callback would stop all of libcurl's transfers.
        self._forget(descriptor)
        if wanted:
            self._selector.register(descriptor, wanted)
            self._watched[descriptor] = wanted

    def wait(self, timeout_s: float) -> list[tuple[int, int]]:
        """Return descriptors that are ready, each with libcurl's flags; none after `timeout_s` or a wake-up."""
        ready = []
        found = self._selector.select(0.0)
        self.was_idle = not found
        if not found and timeout_s > 0:
            found = self._selector.select(timeout_s)
        for key, events in found:
            descriptor = key.fd
            if descriptor in self._parked:
                # The receiver closed a connection that nobody uses. libcurl notices by itself.
                self._forget(descriptor)
            elif key.fileobj is self._wake_reader:
                self._drain_wake_ups()
            else:
                ready.append((descriptor, _CURL_FLAGS[events]))
        return ready

    def wake_up(self) -> None:
        """End the current wait, or the next one. Any thread may call this."""
        try:
            self._wake_writer.send(b"\0")
        except OSError:
            return  # full of wake-ups already, or closed

    def close(self) -> None:
        self._selector.close()
        self._wake_reader.close()
        self._wake_writer.close()

    def _drain_wake_ups(self) -> None:
        try:
            while self._wake_reader.recv(4096):
                pass
        except BlockingIOError:
            return

    def _forget(self, descriptor: int) -> None:
        if self._watched.pop(descriptor, 0):
            self._selector.unregister(descriptor)


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


class HTTPClient:
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
        """Start a request at the next `poll`. Raises ValueError for headers that no request can have."""
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
