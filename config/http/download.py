"""A GET that streams into a file: bounded in time and bytes, only to vetted addresses, without redirects."""

import hashlib
import socket
from typing import IO, Any, Final, NamedTuple

import certifi
import pycurl

from config.http import error_codes
from config.http.guard import VettedTarget
from config.http.routes import route_to
from config.http.transfer import DuplicatedSocket

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

    def open_socket(self, _purpose: int, peer: Any) -> socket.socket | int:
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
    options: dict[int, Any] = {
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
