"""The sender's input and output: limits, requests and results."""

from collections.abc import Iterator
from typing import NamedTuple

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
    """One POST to a vetted target."""

    key: int  # chosen by the caller, and given back in the result
    vetted: VettedTarget
    headers: Headers
    body: bytes
    dns_ms: float = 0.0  # the time of the name look-up; it counts towards the limits


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
