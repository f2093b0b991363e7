"""The ASGI application that serves the product's WSGI application."""

import asyncio
import contextlib
import logging
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import unquote_to_bytes
from wsgiref.types import WSGIEnvironment
from wsgiref.util import FileWrapper

from config.api.errors import RETRY_AFTER_SECONDS, UNAVAILABLE
from config.event_loop_responses import EventLoopResponse, Scope, event_loop_routes
from config.event_streams import EventStreamResponse
from config.metrics import count, register_gauge
from config.postgresql.base import set_answer_timeout
from config.redis import connect_async
from config.request_bodies import BodyRule, body_rules
from config.serving.bodies import (
    ASKS,
    Body,
    BodyRefused,
    Headers,
    LargeBodies,
    Receive,
    TooManyBodies,
    is_admitted,
    is_large,
    read_body,
    unread_body,
)
from config.serving.event_streams import EventStream, EventStreamHub
from config.serving.responses import (
    BufferedStream,
    Disconnected,
    FileStream,
    RawHeaders,
    Send,
    is_liveness,
    send_liveness,
    send_loop_answer,
    send_refusal,
    send_stream,
    send_whole,
)
from config.serving.threads import ThreadPool

# A cookie may hold a comma, so cookie headers are not joined with one.
JOINED_BY = {"HTTP_COOKIE": "; "}


def cgi_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by their CGI names, with repeated ones joined.

    A name with an underscore is dropped. It would read like the name with a hyphen, which a proxy has checked.
    """
    found: dict[str, str] = {}
    for raw_name, raw_value in headers:
        if b"_" in raw_name or raw_name in (b"content-length", b"transfer-encoding"):
            continue
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        key = name if name == "CONTENT_TYPE" else f"HTTP_{name}"
        found[key] = f"{found[key]}{JOINED_BY.get(key, ',')}{value}" if key in found else value
    return found


def wsgi_environ(scope: Scope, body: Body) -> WSGIEnvironment:
    """Return the environment of PEP 3333. Texts are bytes read as Latin-1, and a body always has a length."""
    root = scope.get("root_path", "")
    path = unquote_to_bytes(scope["raw_path"]).decode("latin-1")
    server, client = scope.get("server") or ("", ""), scope.get("client") or ("", "")
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": root,
        "PATH_INFO": path.removeprefix(root) if root else path,
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body.stream,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": FileWrapper,
        **cgi_headers(scope["headers"]),
    }
    if body.length is not None:
        environ["CONTENT_LENGTH"] = str(body.length)
    return environ


logger = logging.getLogger(__name__)

WSGIApplication = Callable[[WSGIEnvironment, Callable[..., Any]], Iterable[bytes]]
Content = bytes | BufferedStream | FileStream | EventStreamResponse
Answer = tuple[int, RawHeaders, Content]
Work = Callable[[], bool]

WAIT_SECONDS: Final = 5.0
READINESS_WAIT_SECONDS: Final = 3.0
# deploy/restart-web sends this signal before it ends a server, so that no request meets a connection that is closing.
LEAVE_SIGNAL: Final = signal.SIGUSR1
# Work after answers of the event loop waits this long, so that one run of it serves many answers.
AFTERWARDS_SECONDS: Final = 0.05
# Work that failed, because the database was away, is tried again after this time.
AGAIN_SECONDS: Final = 1.0
NOTHING: Final[Mapping[str, object]] = {}
CLOSE: Final = [(b"connection", b"close")]


class WSGIInThreads:
    """Reads each body on the event loop, then lets the WSGI application answer in one of a few threads.

    Readiness has a separate thread and liveness needs none, so both answer while all other threads are busy.
    """

    def __init__(self, application: WSGIApplication, *, threads: int, database_seconds: float) -> None:
        self.application, self.database_seconds = application, database_seconds
        self.threads = ThreadPool("requests", threads, wait_seconds=WAIT_SECONDS)
        self.readiness = ThreadPool("readiness", 1, wait_seconds=READINESS_WAIT_SECONDS)
        self.event_streams = EventStreamHub(connect_async)
        self.is_leaving = False
        self._later: dict[Work, asyncio.TimerHandle] = {}
        self.under_way: Counter[str] = Counter()
        self.large_bodies = LargeBodies()
        register_gauge("web_threads", lambda: self.threads.size)
        register_gauge("web_threads_busy", lambda: self.threads.busy)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        asyncio.get_running_loop().add_signal_handler(LEAVE_SIGNAL, self.leave)
        self.threads.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.event_streams.end_all()
        self._submit_all()
        self.threads.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def leave(self) -> None:
        """Ask clients with each answer from now on to open another connection, because this server is about to end."""
        self.is_leaving = True
        self.event_streams.end_all()
        self._submit_all()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_liveness(scope):
            await send_liveness(send)
            return
        quick = event_loop_routes.answer(scope)
        if quick:
            await self._answer_quickly(scope, send, quick)
            return
        headers, rule = dict(scope["headers"]), body_rules.of(scope["path"])
        if not self._has_room(rule):
            await self._send_unavailable(send, scope, headers, CLOSE)
            return
        self.under_way[rule.name] += 1
        try:
            await self._read_and_answer(scope, receive, send, headers, rule)
        finally:
            self.under_way[rule.name] -= 1

    async def _answer_quickly(self, scope: Scope, send: Send, answer: EventLoopResponse) -> None:
        if answer.afterwards and not self.is_leaving:
            self._do_later(answer.afterwards, AFTERWARDS_SECONDS)
        elif answer.afterwards:
            self._submit(answer.afterwards)
        await send_loop_answer(send, scope, answer, CLOSE if self.is_leaving else [])

    def _do_later(self, work: Work, seconds: float) -> None:
        if work not in self._later:
            self._later[work] = asyncio.get_running_loop().call_later(seconds, self._submit, work)

    def _submit_all(self) -> None:
        for work, timer in list(self._later.items()):
            timer.cancel()
            self._submit(work)

    def _submit(self, work: Work) -> None:
        self._later.pop(work, None)
        self.threads.submit(partial(self._do_afterwards, work, asyncio.get_running_loop()), None)

    def _do_afterwards(self, work: Work, loop: asyncio.AbstractEventLoop, waited: float) -> None:
        set_answer_timeout(self.database_seconds, waited=0.0)
        is_left = True  # also if it raises
        try:
            is_left = work()
        finally:
            if is_left:
                # The loop of a server that is being stopped may be closed already.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._do_later, work, AGAIN_SECONDS)

    def _has_room(self, rule: BodyRule) -> bool:
        return rule.most_at_once is None or self.under_way[rule.name] < rule.most_at_once

    async def _send_unavailable(self, send: Send, scope: Scope, headers: Headers, more: RawHeaders) -> None:
        retry = (b"retry-after", str(RETRY_AFTER_SECONDS).encode())
        await send_refusal(send, scope, headers, 503, UNAVAILABLE, [retry, *more])

    async def _read_and_answer(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, rule: BodyRule
    ) -> None:
        if is_large(headers, rule):
            await self._ask_first(scope, receive, send, headers, rule)
        else:
            await self._read_whole(scope, receive, send, headers, rule)

    async def _ask_first(self, scope: Scope, receive: Receive, send: Send, headers: Headers, rule: BodyRule) -> None:
        """Read a large body only if Django says that it is wanted. Otherwise Django's answer goes to the client."""
        body = unread_body(headers)
        answer = await self._run(scope, body, {ASKS: True})
        if answer is None or not is_admitted(answer[1]):
            await self._pass_answer(scope, receive, send, headers, body, answer)
            return
        try:
            with self.large_bodies.one_more(rule, wsgi_environ(scope, body)):
                await self._read_whole(scope, receive, send, headers, rule)
        except TooManyBodies:
            await self._send_unavailable(send, scope, headers, CLOSE)

    async def _read_whole(self, scope: Scope, receive: Receive, send: Send, headers: Headers, rule: BodyRule) -> None:
        try:
            body = await read_body(headers, rule, receive)
        except BodyRefused as refused:
            await send_refusal(send, scope, headers, refused.status, str(refused), CLOSE)
            return
        await self._pass_answer(scope, receive, send, headers, body, await self._run(scope, body))

    async def _pass_answer(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, body: Body, answer: Answer | None
    ) -> None:
        more = [] if body.is_whole and not self.is_leaving else CLOSE
        if answer is None:
            count("web_faults_total", 1, "no_free_thread")
        if answer is None or (isinstance(answer[2], EventStreamResponse) and self.event_streams.is_full):
            await self._send_unavailable(send, scope, headers, more)
            return
        status, answered, content = answer
        if isinstance(content, bytes):
            await send_whole(send, status, answered + more, content)
        else:
            await send_stream(send, receive, status, answered + more, self._opened(content))

    def _opened(
        self, content: BufferedStream | FileStream | EventStreamResponse
    ) -> BufferedStream | FileStream | EventStream:
        if isinstance(content, EventStreamResponse):
            return EventStream(self.event_streams, content.topic, content.after)
        return content

    async def _run(self, scope: Scope, body: Body, extra: Mapping[str, object] = NOTHING) -> Answer | None:
        """Have the request answered in a thread; None if no thread became free in time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer | None] = loop.create_future()
        exchange = WSGICall(self.application, {**wsgi_environ(scope, body), **extra}, loop, future)
        threads = self.readiness if scope["path"] == "/readyz" else self.threads
        threads.submit(partial(self._serve, exchange), lambda: _settle(future, None))
        return await future

    def _serve(self, exchange: "WSGICall", waited: float) -> None:
        set_answer_timeout(self.database_seconds, waited=waited)
        exchange.run()


def _settle(future: "asyncio.Future[Answer | None]", answer: Answer | None) -> None:
    if not future.done():
        future.set_result(answer)


class WSGICall:
    """Takes one request through the WSGI application, in a thread."""

    def __init__(
        self,
        application: WSGIApplication,
        environ: WSGIEnvironment,
        loop: asyncio.AbstractEventLoop,
        future: "asyncio.Future[Answer | None]",
    ) -> None:
        self.application, self.environ, self.loop, self.future = application, environ, loop, future
        self.status, self.headers = 500, [(b"content-length", b"0")]

    def run(self) -> None:
        """Answer the request, or stop because the client has gone."""
        try:
            self._pass_on(self.application(self.environ, self._start_response))
        except Disconnected:
            return
        except Exception:
            logger.exception("the application met a fault outside of Django")
            self._answer(b"")
        finally:
            self.environ["wsgi.input"].close()

    def _start_response(self, status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        self.status = int(status[:3])
        self.headers = [(name.lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers]

    def _answer(self, content: Content) -> None:
        answer = (self.status, self.headers, content)
        # The loop of a server that is being stopped may be closed already.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(_settle, self.future, answer)

    def _pass_on(self, result: Iterable[bytes]) -> None:
        if isinstance(result, FileWrapper):
            self._answer(FileStream(result.filelike, result.blksize))
            return
        try:
            if isinstance(result, EventStreamResponse):
                self._answer(result)
            elif getattr(result, "streaming", True):
                self._stream(result)
            else:
                self._answer(b"".join(result))
        finally:
            close = getattr(result, "close", None)
            if close:
                close()

    def _stream(self, pieces: Iterable[bytes]) -> None:
        stream, is_whole = BufferedStream(self.loop), False
        self._answer(stream)
        try:
            for piece in pieces:
                stream.write(piece)
            is_whole = True
        finally:
            stream.end(is_cut=not is_whole)
