"""Takes an answer to the client: Django's, whole or piece by piece, or one that the server gives by itself."""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from html import escape
from tempfile import SpooledTemporaryFile
from typing import IO, Final, Protocol

import orjson
from django.conf import settings

from config.event_loop_responses import EventLoopRequest, EventLoopResponse, Scope
from config.logs import request_id, request_id_for
from config.metrics import observe
from config.serving.bodies import Headers, Receive

Send = Callable[[Mapping[str, object]], Awaitable[None]]
RawHeaders = list[tuple[bytes, bytes]]

PIECE_BYTES: Final = 64 * 1024
AHEAD_IN_MEMORY_BYTES: Final = 256 * 1024
# A stream may be this far ahead of its client. Beyond it the thread waits, and a client that takes nothing is given up.
MOST_AHEAD_BYTES: Final = 64 * 1024 * 1024
STALLED_SECONDS: Final = 10.0

# Reading a file may wait for a disk. Neither the event loop nor a request's thread should wait for that.
_file_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="files")


class Disconnected(Exception):
    """The client does not wait for the rest of an answer any more, or the rest cannot be made."""


class BufferedStream:
    """Pieces of an answer, in order, from the thread that makes them to the client.

    They are passed on at once. A slow client does not hold the thread: the pieces wait in memory, then on disk.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._changed = asyncio.Event()
        self._room = threading.Condition()
        self._waiting: IO[bytes] = SpooledTemporaryFile(AHEAD_IN_MEMORY_BYTES)  # noqa: SIM115  # see `close`
        self._read = self._written = 0
        self._has_ended = self._is_cut = self._client_has_gone = False

    def write(self, piece: bytes) -> None:
        """Add a piece; the thread calls this. Raises `Disconnected`, also if the client takes nothing for too long."""
        with self._room:
            while self._written - self._read > MOST_AHEAD_BYTES and not self._client_has_gone:
                if not self._room.wait(STALLED_SECONDS):
                    raise Disconnected
            if self._client_has_gone:
                raise Disconnected
            self._waiting.seek(self._written)
            self._waiting.write(piece)
            self._written += len(piece)
        self._loop.call_soon_threadsafe(self._changed.set)

    def end(self, *, is_cut: bool = False) -> None:
        """Record that the last piece was written, or with `is_cut` that the rest cannot be made."""
        with self._room:
            self._has_ended, self._is_cut = True, is_cut
        self._loop.call_soon_threadsafe(self._changed.set)

    def leave(self) -> None:
        """Record that the client has gone. The thread learns of it with its next piece."""
        with self._room:
            self._client_has_gone = True
            self._room.notify()
        self._changed.set()

    async def read(self) -> bytes:
        """Return what there is to send; nothing after the last piece. Raises `Disconnected` if it cannot go on."""
        while True:
            self._changed.clear()
            with self._room:
                piece = self._take()
                if piece:
                    return piece
                if self._client_has_gone or self._is_cut:
                    raise Disconnected
                if self._has_ended:
                    return b""
            await self._changed.wait()

    def _take(self) -> bytes:
        self._waiting.seek(self._read)
        piece = self._waiting.read(PIECE_BYTES)
        self._read += len(piece)
        if self._read == self._written:
            self._waiting.seek(0)
            self._waiting.truncate()
            self._read = self._written = 0
        if piece:
            self._room.notify()
        return piece

    def close(self) -> None:
        with self._room:
            self._waiting.close()


class FileStream:
    """A file on its way to the client. It holds none of the requests' threads."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file, self.size = file, size

    async def read(self) -> bytes:
        loop = asyncio.get_running_loop()
        piece: bytes = await loop.run_in_executor(_file_readers, self.file.read, self.size)
        return piece

    def leave(self) -> None:
        """Do nothing: no thread waits for the client."""

    def close(self) -> None:
        _file_readers.submit(self.file.close)


async def send_whole(send: Send, status: int, headers: RawHeaders, body: bytes) -> None:
    """Send a complete answer."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class StreamSource(Protocol):
    """An answer in pieces. `read` returns nothing at its end and raises `Disconnected` if it cannot go on."""

    async def read(self) -> bytes: ...

    def leave(self) -> None: ...

    def close(self) -> None: ...


async def send_stream(send: Send, receive: Receive, status: int, headers: RawHeaders, stream: StreamSource) -> None:
    """Send pieces at the client's speed, until the end or until the client has gone."""
    watch = asyncio.ensure_future(_watch_client(receive, stream))
    try:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        while piece := await stream.read():
            if watch.done():
                return
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        watch.cancel()
        stream.leave()
        stream.close()


async def _watch_client(receive: Receive, stream: StreamSource) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.leave()


logger = logging.getLogger("requests")

PAGE: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<h1>{title}</h1><p>Request <code>{request}</code></p></html>
"""
JSON_HEADERS: Final = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
PAGE_HEADERS: Final = [
    (b"content-type", b"text/html; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


async def send_refusal(send: Send, scope: Scope, headers: Headers, status: int, message: str, more: RawHeaders) -> None:
    """Answer in the form of the path's area: `{message}` below `/api/`, elsewhere a small page."""
    started = time.perf_counter()
    name = request_id_for(headers.get(b"x-request-id", b"").decode("latin-1"))
    if scope["path"].startswith("/api/"):
        body, form = orjson.dumps({"message": message}), JSON_HEADERS
    else:
        body, form = PAGE.format(title=escape(message), request=name).encode(), PAGE_HEADERS
    own = [(b"content-length", str(len(body)).encode()), (b"x-request-id", name.encode())]
    _log(scope, status, name, started)
    await send_whole(send, status, [*form, (b"x-content-type-options", b"nosniff"), *own, *more], body)


def _log(scope: Scope, status: int, name: str, started: float) -> None:
    token, ms = request_id.set(name), round((time.perf_counter() - started) * 1000, 1)
    logger.info("request", extra={"method": scope["method"], "path": scope["path"], "status": status, "ms": ms})
    request_id.reset(token)


async def send_loop_answer(send: Send, scope: Scope, answer: EventLoopResponse, more: RawHeaders) -> None:
    """Send an app's answer from the event loop, with an id and a line in the log as every answer has."""
    started, request = time.perf_counter(), EventLoopRequest(scope)
    name = request_id_for(request.header(b"x-request-id"))
    own = [(b"content-length", b"0"), (b"x-content-type-options", b"nosniff"), (b"x-request-id", name.encode())]
    if request.is_secure and settings.SECURE_HSTS_SECONDS:
        own.append((b"strict-transport-security", _hsts(answer).encode()))
    await send_whole(send, answer.status, [*answer.headers, *own, *more], b"")
    _log(scope, answer.status, name, started)
    observe("web_request_seconds", time.perf_counter() - started, "pages")


def _hsts(answer: EventLoopResponse) -> str:
    """Return the HSTS header as Django writes it. On an agency's host it covers that host alone."""
    more = [
        "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else "",
        "; preload" if settings.SECURE_HSTS_PRELOAD else "",
    ]
    return f"max-age={settings.SECURE_HSTS_SECONDS}{''.join(more) if answer.is_installations else ''}"


def is_liveness(scope: Scope) -> bool:
    return scope["path"] == "/healthz" and scope["method"] in ("GET", "HEAD")


async def send_liveness(send: Send) -> None:
    """Answer `/healthz` as its view does, but on the event loop, so that it works while every thread is busy."""
    body = orjson.dumps({"status": "ok", "instance": settings.INSTANCE_ID})
    headers = [*JSON_HEADERS, (b"content-length", str(len(body)).encode())]
    await send_whole(send, 200, headers, body)
