"""Measures what a thousand open inboxes cost while nothing happens, and how soon all of them learn of a change."""

import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import User
from agency.services import create_agency
from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.rounds import percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from benchmarks.web.client import allow_files, calling, cpu_seconds, server
from config.event_streams import publish
from workspaces.conversations.services.conversations import inbox_topic
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import create_workspace

STREAMS = 1_000
IDLE_SECONDS = 5.0
CALL_SECONDS = 2.0
ROUNDS = 3
CHANGES = 5
AT_ONCE = 20
OPENING_SECONDS = 60.0
MOST_RATIO = 1.5
TITLE = (
    f"{STREAMS:,} open inboxes (event streams), two processes with four threads each: what they cost while nothing\n"
    "happens, what other calls take beside them, and how soon the last of them hears of a change."
)


def run(_: Bench) -> list[Figure]:
    _agency, (key,) = agency_with(25)
    workspace, session = _signed_in()
    with server() as port:
        _p99_of_calls(port, key)
        alone = [_p99_of_calls(port, key) for _ in range(ROUNDS)]
        with open_streams(port, session) as streams:
            beside = [_p99_of_calls(port, key) for _ in range(ROUNDS)]
            statements, cpu = _idle(port)
            heard = [_change(workspace, streams, number) for number in range(CHANGES)]
        alone += [_p99_of_calls(port, key) for _ in range(ROUNDS)]
    return [
        Figure(name="statements in PostgreSQL while nothing happens", measured=statements, unit="", at_most=0),
        Figure(name="CPU of the server while nothing happens", measured=cpu * 100, unit="%", at_most=10),
        Figure(name="p99 of a list without them", measured=median(alone) * 1000, unit="ms", ratio=1),
        Figure(
            name="p99 of a list beside the streams",
            measured=median(beside) * 1000,
            unit="ms",
            ratio=median(beside) / median(alone),
            at_most=MOST_RATIO * median(alone) * 1000,
        ),
        Figure(name="a change is heard by the last of them after", measured=percentile(heard, 0.5) * 1000, unit="ms"),
    ]


def _signed_in() -> tuple[Workspace, str]:
    """Give a workspace and the cookie of its owner's session."""
    agency = create_agency(name="Streams", by=SYSTEM)
    workspace = create_workspace(
        agency=agency, name="Streams", owner_name="Owner", owner_email="owner@streams.example", now=now(), by=SYSTEM
    )
    Workspace.objects.filter(pk=workspace.pk).update(owner_pending_since=None)
    client = Client()
    client.force_login(User.objects.get(pk=workspace.owner_id))
    return workspace, client.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def open_streams(port: int, session: str, number: int = STREAMS) -> Iterator[list[socket.socket]]:
    """Open `number` streams, some dozens at a time, and hold them; all have begun when the block starts."""
    allow_files(number + 500)
    cookie = f"Cookie: {settings.SESSION_COOKIE_NAME}={session}"
    request = f"GET /app/inbox/stream HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n\r\n".encode()
    streams: list[socket.socket] = []
    until = time.monotonic() + OPENING_SECONDS
    try:
        for first in range(0, number, AT_ONCE):
            some = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(first, first + AT_ONCE)]
            streams += some
            for stream in some:
                stream.sendall(request)
            for stream in some:
                _wait_for_beginning(stream)
            if time.monotonic() > until:
                raise Broken(f"Only {len(streams)} streams were open after {OPENING_SECONDS:.0f} s.")
        yield streams
    finally:
        for stream in streams:
            stream.close()


def _wait_for_beginning(stream: socket.socket) -> None:
    came = b""
    while b"retry:" not in came:
        more = stream.recv(65536)
        came += more
        if not more or not came.startswith(b"HTTP/1.1 200"[: len(came)]):
            raise Broken(f"A stream was answered {came[:100]!r}.")


def _p99_of_calls(port: int, key: str) -> float:
    with calling(port, key, 4) as calls:
        time.sleep(CALL_SECONDS)
    return percentile(calls.seconds, 0.99)


def _idle(port: int) -> tuple[int, float]:
    """Give whether the server executed statements while nothing happened (1 or 0), and its share of a core."""
    time.sleep(2.0)
    before, cpu = _newest_statement(), cpu_seconds(port)
    time.sleep(IDLE_SECONDS)
    used = (cpu_seconds(port) - cpu) / IDLE_SECONDS
    return int(_newest_statement() != before), used


def _newest_statement() -> object:
    """Give the time at which any session of the web server last began a statement."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(query_start) FROM pg_stat_activity WHERE application_name LIKE '%web%'")
        return cursor.fetchone()[0]


def _change(workspace: Workspace, streams: list[socket.socket], number: int) -> float:
    """Publish a change; give the seconds until the last stream has it."""
    mark = f'"number":{number}'.encode()
    waiting = selectors.DefaultSelector()
    for stream in streams:
        stream.setblocking(False)
        waiting.register(stream, selectors.EVENT_READ, bytearray())
    begun = time.monotonic()
    publish(inbox_topic(workspace.pk), {"number": number})
    while waiting.get_map():
        ready = waiting.select(timeout=10)
        if not ready:
            raise Broken("A stream heard of no change.")
        for selected, _ in ready:
            selected.data.extend(selected.fileobj.recv(65536))  # type: ignore[union-attr]  # a socket
            if mark in selected.data:
                waiting.unregister(selected.fileobj)
    return time.monotonic() - begun
