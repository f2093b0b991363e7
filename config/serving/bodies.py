"""Reads a request's body on the event loop, bounded in size, time and number, so that no thread waits for a sender."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, Final, NamedTuple, NotRequired, TypedDict
from wsgiref.types import WSGIEnvironment

from django.conf import settings
from django.core.exceptions import RequestDataTooBig

from config.api.requests import client_address_of, rate_limit_bucket
from config.request_bodies import BODY_ADMITTED, BodyRule


class Message(TypedDict):
    """What the server tells of a request's body, or of the end of its connection."""

    type: str
    body: NotRequired[bytes]
    more_body: NotRequired[bool]


Receive = Callable[[], Awaitable[Message]]
Headers = Mapping[bytes, bytes]

IN_MEMORY_BYTES: Final = 256 * 1024
FIRST_SECONDS: Final = 10.0
BYTES_A_SECOND: Final = 100 * 1024


class BodyRefused(Exception):
    """The body is refused. The request is answered without any view, and its connection is closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Body(NamedTuple):
    """A body, or a stand-in for one that was not read. `length` is None if there is neither a body nor its length.

    `is_whole` says that nothing more of it comes over the connection.
    """

    stream: IO[bytes]
    length: int | None
    is_whole: bool = True


class _UnreadBody(SpooledTemporaryFile[bytes]):
    """Stands for a body that was not read. A view that reads it anyway gets `RequestDataTooBig`."""

    def read(self, *_: object) -> bytes:
        raise RequestDataTooBig("The body was not read.")

    readline = read


def _declared_length(headers: Headers) -> int | None:
    """Return the Content-Length, which the server has checked to be a number; None for a body sent in chunks."""
    length = headers.get(b"content-length", b"")
    return int(length) if length.isdigit() else None


def is_large(headers: Headers, rule: BodyRule) -> bool:
    """Return whether a body would be read and may be too large for memory. A body in chunks may have any size."""
    if rule.headers and not any(name in headers for name in rule.headers):
        return False
    length = _declared_length(headers)
    return b"transfer-encoding" in headers or IN_MEMORY_BYTES < (length or 0) <= rule.most_bytes


def unread_body(headers: Headers) -> Body:
    """Return the stand-in for a body of which nothing is read."""
    return Body(_UnreadBody(), _declared_length(headers) or 0, is_whole=False)


async def read_body(headers: Headers, rule: BodyRule, receive: Receive) -> Body:
    """Return a request's body as a file, or a stand-in if its view refuses it unread.

    Raises `BodyRefused` if it is too large, too slow or cut short.
    """
    length = _declared_length(headers)
    in_chunks = b"transfer-encoding" in headers
    if not in_chunks and not length:
        return Body(SpooledTemporaryFile(), length)
    if rule.headers and not any(name in headers for name in rule.headers):
        return unread_body(headers)
    if length is not None and length > rule.most_bytes:
        return _too_large(rule, length)
    stream: IO[bytes] = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115  # the request's thread closes it
    try:
        size = await _receive_all(stream, rule.most_bytes, receive)
    except BaseException:
        stream.close()
        raise
    if size > rule.most_bytes:
        stream.close()
        return _too_large(rule, size)
    stream.seek(0)
    return Body(stream, size)


def _too_large(rule: BodyRule, length: int) -> Body:
    if rule.view_refuses:
        return Body(_UnreadBody(), length, is_whole=False)
    raise BodyRefused(413, f"The body is larger than {rule.most_bytes // (1024 * 1024)} MiB.")


async def _receive_all(stream: IO[bytes], most: int, receive: Receive) -> int:
    """Write the body to the stream until it ends or is too large; return the size received."""
    loop = asyncio.get_running_loop()
    started, size = loop.time(), 0
    try:
        async with asyncio.timeout_at(started + FIRST_SECONDS) as deadline:
            while size <= most:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise BodyRefused(400, "The body ended too early.")
                piece = message.get("body", b"")
                size += len(piece)
                stream.write(piece)
                if not message.get("more_body", False):
                    break
                deadline.reschedule(started + FIRST_SECONDS + max(0, size - BYTES_A_SECOND) / BYTES_A_SECOND)
    except TimeoutError:
        raise BodyRefused(408, "The body came too slowly.") from None
    return size


# The server asks before it reads any of a body that does not stay in memory. The request runs through Django's
# middleware without its body, and `config.serving.middleware` says whether the body is wanted. If it is not, Django's
# refusal is the answer.

ASKS: Final = "config.asks_for_body"
# Limits for one sender (a session, a key), one address and one process.
MOST_KNOWN: Final = (4, 16, 32)
MOST_OF_STRANGERS: Final = (4, 4, 32)


def is_admitted(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether an answer tells the server to read the body and to ask again with it."""
    return any(name == BODY_ADMITTED.lower().encode() for name, _ in headers)


class TooManyBodies(Exception):
    """The sender, the address or the process has too many large bodies under way."""


class LargeBodies:
    """Counts the large bodies under way in this process, on its event loop."""

    def __init__(self) -> None:
        self._under_way: Counter[tuple[str, ...]] = Counter()

    @contextmanager
    def one_more(self, rule: BodyRule, environ: WSGIEnvironment) -> Iterator[None]:
        """Count one body until the block ends. Raises `TooManyBodies`."""
        is_known = rule.signed_in or bool(rule.headers)
        kind, most = ("known", MOST_KNOWN) if is_known else ("strangers", MOST_OF_STRANGERS)
        address = rate_limit_bucket(client_address_of(environ))
        sender = (kind, "sender", _sender(environ, rule) or address)
        counted = (sender, (kind, "address", address), (kind, "process"))
        if any(self._under_way[one] >= limit for one, limit in zip(counted, most, strict=True)):
            raise TooManyBodies
        self._under_way.update(counted)
        try:
            yield
        finally:
            self._under_way.subtract(counted)
            self._under_way += Counter()  # drops senders that have none left


def _sender(environ: WSGIEnvironment, rule: BodyRule) -> str:
    """Return what identifies a sender: the header that the path needs, else the session's cookie."""
    for header in rule.headers:
        value = environ.get(f"HTTP_{header.decode().upper().replace('-', '_')}")
        if value:
            return str(value)
    cookies = str(environ.get("HTTP_COOKIE", "")).split(";")
    return next((one.strip() for one in cookies if one.strip().startswith(f"{settings.SESSION_COOKIE_NAME}=")), "")
