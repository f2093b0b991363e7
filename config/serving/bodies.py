"""Reads a request's body on the event loop, bounded in size and time, so that no thread waits for a slow sender."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, NamedTuple

from django.core.exceptions import RequestDataTooBig

from config.request_bodies import BodyRule

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
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

    def read(self, *_: Any) -> bytes:
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
