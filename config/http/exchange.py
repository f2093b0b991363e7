"""What goes into the sender and what comes out of it."""

from collections.abc import Iterator
from typing import NamedTuple

from .guard import VettedTarget

Headers = tuple[tuple[str, str], ...]


class Limits(NamedTuple):
    """How long an attempt may take and how much of an answer is taken in."""

    total_ms: int = 10_000  # the whole attempt, looking the name up included
    connect_ms: int = 5_000  # of it until TLS stands, looking the name up included
    answer_bytes: int = 64 * 1024  # head and body
    kept_head_bytes: int = 8 * 1024
    kept_body_bytes: int = 2 * 1024
    # A request that a kept connection lost is not written a second time: for what must not come twice.
    writes_once: bool = False
    idle_seconds: int = 118  # a connection that was not used for longer is not used again


class Request(NamedTuple):
    """One POST to a vetted target."""

    key: int  # the caller's, given back in the result
    vetted: VettedTarget
    headers: Headers
    body: bytes
    dns_ms: float = 0.0  # what looking the name up took; it counts towards the limits


class Result(NamedTuple):
    """How a POST went. It succeeded where `error` is None; times are milliseconds."""

    key: int
    status: int | None  # what the receiver said, even where the attempt failed after that
    error: str | None  # one of error_codes.py
    started_at: float  # seconds since the epoch
    dns_ms: float
    connect_ms: float | None  # None where no new connection was made
    tls_ms: float | None
    first_byte_ms: float | None  # since the start, None where nothing came
    total_ms: float
    remote_address: str | None
    reused: bool  # over a connection kept from an earlier request
    cut: bool  # the answer was longer than the limit, and left there
    response_head: bytes  # status line and header fields as received
    response_body: bytes
    written: bool = False  # whether anything of the request may have reached the receiver

    @property
    def response_headers(self) -> tuple[tuple[str, str], ...]:
        """The answer's header fields, as text that any database takes."""
        return tuple(_fields(self.response_head))

    @property
    def response_text(self) -> str:
        """The kept part of the answer's body, as text that any database takes."""
        return storable_text(self.response_body)


def storable_text(raw: bytes) -> str:
    """UTF-8 as far as it is, with a replacement character for each byte that is not and for NUL."""
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd")


def _fields(head: bytes) -> Iterator[tuple[str, str]]:
    for line in head.splitlines()[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            yield storable_text(name.strip()), storable_text(value.strip())
