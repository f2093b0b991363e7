"""What a thousand open inboxes cost while nothing happens, and how soon all of them hear of a change."""

import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import User
from agency.services import create_agency
from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.rounds import interleave, median_ratio, percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from benchmarks.web.client import allow_files, calling, cpu_seconds, server
from config.event_streams import publish
from workspaces.conversations.services.announcing import inbox_topic
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import create_workspace

STREAMS = 1_000
IDLE_SECONDS = 5.0
CALL_SECONDS = 3.0
ROUNDS = 3
CHANGES = 5
TITLE = (
    f"{STREAMS:,} open inboxes (event streams), two processes with four threads each: what they cost while nothing\n"
    "happens, what other calls take beside them, and how soon the last of them hears of a change."
)


def run(_: Bench) -> list[Figure]:
    _agency, (key,) = agency_with(25)
    workspace, session = _signed_in()
    with server() as port:
        cases = {name: partial(_p99, port, key, session, name) for name in ("alone", "beside")}
        found = interleave(cases, rounds=ROUNDS)
        with open_streams(port, session) as streams:
            statements, cpu = _idle(port)
            heard = [_change(workspace, streams, number) for number in range(CHANGES)]
    ratio = median_ratio(found["beside"], found["alone"])
    return [
        Figure(name="statements in PostgreSQL while nothing happens", measured=statements, unit="", at_most=0),
        Figure(name="CPU of the server while nothing happens", measured=cpu * 100, unit="%", at_most=10),
        Figure(name="p99 of a list beside the streams / without them", measured=ratio, unit="", at_most=1.5),
        Figure(name="a change is heard by the last of them after", measured=percentile(heard, 0.5) * 1000, unit="ms"),
    ]


def _signed_in() -> tuple[Workspace, str]:
    """A workspace, and the cookie of its owner's session."""
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
    """Hold so many streams open; all of them have begun."""
    allow_files(number + 500)
    cookie = f"Cookie: {settings.SESSION_COOKIE_NAME}={session}"
    request = f"GET /app/inbox/stream HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n\r\n".encode()
    streams: list[socket.socket] = []
    try:
        for _ in range(number):
            stream = socket.create_connection(("127.0.0.1", port), timeout=30)
            streams.append(stream)
            stream.sendall(request)
            came = b""
            while b"retry:" not in came:
                came += stream.recv(65536)
                if not came.startswith(b"HTTP/1.1 200"):
                    raise Broken(f"A stream was answered {came[:100]!r}.")
        yield streams
    finally:
        for stream in streams:
            stream.close()


def _p99(port: int, key: str, session: str, name: str) -> float:
    if name == "alone":
        return _p99_of_calls(port, key)
    with open_streams(port, session):
        return _p99_of_calls(port, key)


def _p99_of_calls(port: int, key: str) -> float:
    with calling(port, key, 4) as calls:
        time.sleep(CALL_SECONDS)
    return percentile(calls.seconds, 0.99)


def _idle(port: int) -> tuple[int, float]:
    """Give the statements of the server's sessions, and its share of a core, in a time in which nothing happens."""
    time.sleep(2.0)
    before, cpu = _newest_statement(), cpu_seconds(port)
    time.sleep(IDLE_SECONDS)
    used = (cpu_seconds(port) - cpu) / IDLE_SECONDS
    return int(_newest_statement() != before), used


def _newest_statement() -> object:
    """When any session of the web server last began a statement."""
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
