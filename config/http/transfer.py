"""One libcurl handle, used for one request after another: its requests, their limits and results."""

import math
import socket
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import blake2s
from typing import Any, Final, NamedTuple, Protocol

import pycurl

from config.http import error_codes
from config.http.guard import VettedTarget

Headers = tuple[tuple[str, str], ...]


class Limits(NamedTuple):
    """How long an attempt may take, and how much of an answer is read."""

    total_ms: int = 10_000  # the whole attempt, with the name look-up
    connect_ms: int = 5_000  # the part of it until TLS is established, with the name look-up
    answer_bytes: int = 64 * 1024  # head and body
    kept_head_bytes: int = 8 * 1024
    kept_body_bytes: int = 2 * 1024
    # With this, a request that a kept connection lost is not written again: for requests that must not arrive twice.
    writes_once: bool = False
    idle_seconds: int = 118  # a connection idle for longer is not used again


class Request(NamedTuple):
    """One request to a vetted target, a POST unless `method` says otherwise. A GET has no body."""

    key: int  # chosen by the caller, and given back in the result
    vetted: VettedTarget
    headers: Headers
    body: bytes
    dns_ms: float = 0.0  # the time of the name look-up; it counts towards the limits
    method: str = "POST"
    total_ms: int = 0  # a shorter limit of this attempt; 0 for the client's own


class Result(NamedTuple):
    """How a POST went. It succeeded where `error` is None; times are milliseconds."""

    key: int
    status: int | None  # the receiver's status, even if the attempt failed after that
    error: str | None  # one of error_codes.py
    started_at: float  # seconds since the epoch
    dns_ms: float
    connect_ms: float | None  # None if no new connection was made
    tls_ms: float | None
    first_byte_ms: float | None  # since the start; None if nothing came
    total_ms: float
    remote_address: str | None
    reused: bool  # over a connection kept from an earlier request
    cut: bool  # the answer was longer than the limit and was cut there
    response_head: bytes  # status line and header fields as received
    response_body: bytes
    written: bool = False  # whether anything of the request may have reached the receiver

    @property
    def response_headers(self) -> tuple[tuple[str, str], ...]:
        """The answer's header fields, as text that any database accepts."""
        return tuple(_fields(self.response_head))

    @property
    def response_text(self) -> str:
        """The kept part of the answer's body, as text that any database accepts."""
        return storable_text(self.response_body)


def storable_text(raw: bytes) -> str:
    """Decode UTF-8, with a replacement character for NUL and for each byte that is not UTF-8."""
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd")


def _fields(head: bytes) -> Iterator[tuple[str, str]]:
    for line in head.splitlines()[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            yield storable_text(name.strip()), storable_text(value.strip())


class Route(NamedTuple):
    """The values of CONNECT_TO and RESOLVE that lead only to vetted addresses."""

    connect_to: list[str]
    resolve: list[str]


@lru_cache(maxsize=4096)
def route_to(addresses: tuple[str, ...], port: int) -> Route:
    """Return the route to a set of addresses.

    libcurl keeps connections by the name that it connected to, not by address. If the URL's own name were pinned, a
    kept connection to an earlier address could be used again. So libcurl connects to the address itself. If there are
    several addresses, it connects to a name made of them that exists nowhere else. The certificate and the Host header
    are still about the URL's name.
    """
    spelled = [f"[{address}]" if ":" in address else address for address in addresses]
    if len(spelled) == 1:
        return Route([f"::{spelled[0]}:"], [])
    name = f"{blake2s(' '.join(sorted(spelled)).encode(), digest_size=16).hexdigest()}.invalid"
    # The plus sign lets the entry expire. Otherwise libcurl's table would grow for ever.
    return Route([f"::{name}:"], [f"+{name}:{port}:{','.join(spelled)}"])


# Sockets are read in small pieces, so that an answer without end stops close to its limit.
_READ_SIZE: Final = 4096
_RECEIVE_BUFFER: Final = 32 * 1024
_HEAD_ENDS: Final = (b"\r\n", b"\n")
# With both headers, receivers and proxies disagree about where an answer ends, so it is invalid (RFC 9112, 6.3).
_FRAMED_BY: Final = (b"content-length:", b"transfer-encoding:")
_FRAMED_BY_BOTH: Final = 3
_LONGEST_FRAMING: Final = max(map(len, _FRAMED_BY))
# The first letters of those lines, and of the status line.
_MAY_FRAME: Final = frozenset({b"c", b"C", b"t", b"T", b"H"})
# Lower statuses are interim answers, before the final one.
_FIRST_FINAL_STATUS: Final = 200
# The least that the framing of a chunk costs on the wire.
_CHUNK_OVERHEAD: Final = 5
# libcurl would first ask the receiver whether it may send a large body. Above this size an empty `Expect:` prevents
# that.
_EXPECTING_SIZE: Final = 64 * 1024


class Peer(Protocol):
    """An address that libcurl is about to connect to."""

    family: int
    socktype: int
    protocol: int
    addr: tuple[str, int]


class Transfer:
    """A handle whose constant options are set once. Its answers are cut at the limits."""

    def __init__(
        self,
        limits: Limits,
        ca_file: str,
        on_new_socket: Callable[[], None],
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self.curl: Any = pycurl.Curl()
        self._total_ms, self._connect_ms = limits.total_ms, limits.connect_ms
        self._answer_bytes = limits.answer_bytes
        self._kept_head_bytes, self._kept_body_bytes = limits.kept_head_bytes, limits.kept_body_bytes
        self._writes_once, self._idle_seconds = limits.writes_once, limits.idle_seconds
        self._on_new_socket, self._may_write = on_new_socket, may_write
        self._key = 0
        self._spent_ms = 0.0  # spent on the name look-up
        self._headers: Headers | None = None
        self._is_long = False
        self._url = ""
        self._port = 0
        self._addresses: tuple[str, ...] = ()
        self._resolve: list[str] = []
        self._limited_by = (0, 0)  # the time spent, and the request's own limit, that libcurl's limits allow for
        self._method = "POST"
        self._started_at = 0.0
        self._head: list[bytes] = []
        self._body = bytearray()
        self._received = 0
        self._head_ended = self._cut = self._blocked = self._is_withheld = False
        self._framed_by = 0  # a bit for each of _FRAMED_BY in the current head
        self._writings = 0  # how often libcurl was about to write the request
        self._set_constant_options(ca_file)

    def load(self, request: Request) -> None:
        """Prepare for one POST. Raises ValueError for headers that no request can have."""
        target, addresses = request.vetted
        curl = self.curl
        is_long = len(request.body) > _EXPECTING_SIZE
        if request.headers is not self._headers or is_long != self._is_long:
            curl.setopt(pycurl.HTTPHEADER, _header_lines(request.headers, is_long=is_long))
            self._headers, self._is_long = request.headers, is_long
        if request.method != self._method:
            self._set_method(request.method)
        if request.method != "GET":
            curl.setopt(pycurl.POSTFIELDS, request.body)
        if target.url != self._url:
            curl.setopt(pycurl.URL, target.url)
            self._url = target.url
        if addresses != self._addresses or target.port != self._port:
            self._set_route(target.port, addresses)
        elif self._resolve:
            curl.setopt(pycurl.RESOLVE, self._resolve)  # libcurl reads it once each time it is set
        if (limited_by := (math.ceil(request.dns_ms), request.total_ms)) != self._limited_by:
            self._set_time_left(*limited_by)
        self._key, self._spent_ms = request.key, request.dns_ms
        self._head.clear()
        self._body.clear()
        self._received = 0
        self._head_ended = self._cut = self._blocked = self._is_withheld = False
        self._framed_by = self._writings = 0
        self._started_at = time.time()

    def finish(self, code: int) -> Result:
        """Return the result of the POST. `code` is libcurl's, 0 for success."""
        getinfo, spent_ms = self.curl.getinfo, self._spent_ms
        said = getinfo(pycurl.RESPONSE_CODE)
        status = said if said >= _FIRST_FINAL_STATUS else None
        sent = getinfo(pycurl.REQUEST_SIZE) > 0
        reused = sent and not getinfo(pycurl.NUM_CONNECTS)
        connect = 0.0 if reused else getinfo(pycurl.CONNECT_TIME)
        tls = 0.0 if reused else getinfo(pycurl.APPCONNECT_TIME)
        return Result(
            key=self._key,
            status=status,
            error=self._error(code, status, sent),
            started_at=self._started_at - spent_ms / 1000,
            dns_ms=spent_ms,
            connect_ms=connect * 1000 if connect else None,
            tls_ms=(tls - connect) * 1000 if tls else None,
            first_byte_ms=getinfo(pycurl.STARTTRANSFER_TIME) * 1000 + spent_ms if self._received else None,
            total_ms=getinfo(pycurl.TOTAL_TIME) * 1000 + spent_ms,
            remote_address=getinfo(pycurl.PRIMARY_IP) or None,
            reused=reused,
            cut=self._cut,
            response_head=_final_head(self._head)[: self._kept_head_bytes],
            response_body=bytes(self._body),
            written=sent,
        )

    def _error(self, code: int, status: int | None, sent: bool) -> str | None:
        if self._framed_by == _FRAMED_BY_BOTH:
            return error_codes.INVALID_ANSWER
        if self._cut and not self._head_ended:
            return error_codes.TOO_LARGE
        if (code == 0 or self._cut) and status is not None:
            return error_codes.of_status(status) if self._head_ended or self._has_whole_head else error_codes.CLOSED
        if self._is_withheld and not sent:
            return error_codes.WITHHELD
        if self._blocked and not sent:
            return error_codes.BLOCKED_ADDRESS
        if code == pycurl.E_ABORTED_BY_CALLBACK and sent:
            return error_codes.CLOSED  # libcurl wanted to write the request again, and may not
        return error_codes.of_curl_code(code, sent=sent)

    @property
    def _has_whole_head(self) -> bool:
        """Whether the head is complete. libcurl reports a connection closed within it as an answer without a body."""
        return bool(self._head) and self._head[-1] in _HEAD_ENDS

    def _set_route(self, port: int, addresses: tuple[str, ...]) -> None:
        route = route_to(addresses, port)
        self.curl.setopt(pycurl.CONNECT_TO, route.connect_to)
        self.curl.setopt(pycurl.RESOLVE, route.resolve)
        self._port, self._addresses, self._resolve = port, addresses, route.resolve

    def _set_method(self, method: str) -> None:
        self.curl.setopt(pycurl.HTTPGET if method == "GET" else pycurl.POST, 1)
        if method in {"GET", "POST"}:
            self.curl.unsetopt(pycurl.CUSTOMREQUEST)
        else:
            self.curl.setopt(pycurl.CUSTOMREQUEST, method)
        self._method = method

    def _set_time_left(self, spent_ms: int, own_ms: int = 0) -> None:
        """Subtract the look-up's time from the limits, down to 1 at least, because libcurl reads 0 as no limit."""
        total_ms = min(own_ms or self._total_ms, self._total_ms)
        self.curl.setopt(pycurl.TIMEOUT_MS, max(1, total_ms - spent_ms))
        self.curl.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, self._connect_ms - spent_ms))
        self._limited_by = (spent_ms, own_ms)

    def _set_constant_options(self, ca_file: str) -> None:
        schemes = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
        options: dict[int, object] = {
            pycurl.POST: 1,
            pycurl.PROTOCOLS: schemes,
            pycurl.REDIR_PROTOCOLS: schemes,
            pycurl.FOLLOWLOCATION: 0,
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
            pycurl.HTTP09_ALLOWED: 0,
            pycurl.PATH_AS_IS: 1,
            pycurl.PROXY: "",
            pycurl.NETRC: pycurl.NETRC_IGNORED,
            pycurl.NOSIGNAL: 1,
            # A pinned name must outlive the attempt that set it, but not for long: libcurl walks its table of names
            # with each request.
            pycurl.DNS_CACHE_TIMEOUT: self._total_ms // 1000 + 2,
            pycurl.TCP_NODELAY: 1,
            pycurl.BUFFERSIZE: _READ_SIZE,
            pycurl.MAXAGE_CONN: self._idle_seconds,
            pycurl.CAINFO: ca_file,
            pycurl.SSL_VERIFYPEER: 1,
            pycurl.SSL_VERIFYHOST: 2,
            pycurl.SSLVERSION: pycurl.SSLVERSION_TLSv1_2,
            pycurl.OPENSOCKETFUNCTION: self._open_socket,
            pycurl.PREREQFUNCTION: self._check_connection,
            pycurl.HEADERFUNCTION: self._take_head,
            pycurl.WRITEFUNCTION: self._take_body,
        }
        for option, value in options.items():
            self.curl.setopt(option, value)
        self._set_time_left(0)

    def _open_socket(self, _purpose: int, peer: Peer) -> socket.socket | int:
        """Refuse any address that was not vetted. libcurl calls this before each new connection."""
        if not self._is_vetted(peer.addr[0], peer.addr[1]):
            self._blocked = True
            return int(pycurl.SOCKET_BAD)
        try:
            opened = DuplicatedSocket(peer.family, peer.socktype, peer.protocol)
        except OSError:
            return int(pycurl.SOCKET_BAD)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        self._on_new_socket()
        return opened

    def _check_connection(self, peer: str, _own: str, port: int, _own_port: int) -> int:
        """Check the peer. libcurl calls this before each request is sent, also over a kept connection.

        libcurl writes a request again if a kept connection ended without an answer, though the receiver may have got
        it.
        """
        self._writings += 1
        allowed = self._is_vetted(peer, port) and not (self._writes_once and self._writings > 1)
        if allowed and not self._may_write():
            self._is_withheld, allowed = True, False
        return int(pycurl.PREREQFUNC_OK if allowed else pycurl.PREREQFUNC_ABORT)

    def _is_vetted(self, address: str, port: int) -> bool:
        return address in self._addresses and port == self._port

    def _take_head(self, line: bytes) -> int | None:
        self._received += len(line)
        if self._received > self._answer_bytes:
            self._cut = True
            return 0
        self._head.append(line)
        if line[:1] in _MAY_FRAME:
            name = line[:_LONGEST_FRAMING].lower()
            if name.startswith(_FRAMED_BY):
                return self._frame(name)
            if name.startswith(b"http/") and self._begins_head:
                self._framed_by = 0  # a new head, after that of an interim answer
        return None

    @property
    def _begins_head(self) -> bool:
        return len(self._head) < 2 or self._head[-2] in _HEAD_ENDS

    def _frame(self, name: bytes) -> int | None:
        """Record that the head says how long the body is.

        If it says so in two ways, libcurl is told to stop. Then it does not keep the connection.
        """
        self._framed_by |= 1 if name.startswith(_FRAMED_BY[0]) else 2
        return 0 if self._framed_by == _FRAMED_BY_BOTH else None

    def _take_body(self, data: bytes) -> int | None:
        self._head_ended = True
        self._received += len(data) + _CHUNK_OVERHEAD
        room = self._kept_body_bytes - len(self._body)
        if room > 0:
            self._body += data[:room]
        if self._received > self._answer_bytes:
            self._cut = True
            return 0
        return None


class DuplicatedSocket(socket.socket):
    """A socket that libcurl duplicates. The original is closed with its last reference."""

    def __del__(self) -> None:
        self.close()


def _header_lines(headers: Headers, *, is_long: bool) -> list[str]:
    lines = [f"{name}: {value}" for name, value in headers]
    joined = "".join(lines)
    if "\n" in joined or "\r" in joined or "\0" in joined or not joined.isascii():
        raise ValueError("A header may hold neither line ends nor anything but ASCII.")
    lines.append("Accept-Encoding: identity")
    if is_long:
        lines.append("Expect:")
    return lines


def _final_head(lines: list[bytes]) -> bytes:
    """Return the head of the final answer, without the heads of interim answers (1xx)."""
    if lines.count(b"\r\n") > 1:
        starts = [number for number, line in enumerate(lines) if line.startswith(b"HTTP/")]
        lines = lines[starts[-1] if starts else 0 :]
    return b"".join(lines)
