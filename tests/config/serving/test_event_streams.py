"""Open pages are told what happens: at once, without a gap, without a thread or a query for each of them."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from config.event_streams import KEPT_ENTRIES, newest_entry, publish, stream_key
from config.redis import client
from tests.config.serving.web import THREADS, Web, head, running_web

PATIENCE = 30.0


class Listener:
    """A page that has a topic open."""

    def __init__(self, web: Web, topic: str, after: str = "") -> None:
        lines = [f"Last-Event-ID: {after}"] if after else []
        self.connection = web.send(head("GET", f"/events/{topic}", *lines))
        self.came = b""

    def until(self, *texts: bytes) -> bytes:
        """Read until all of these have come; give everything that came."""
        until = time.monotonic() + PATIENCE
        while not all(text in self.came for text in texts):
            self.connection.settimeout(max(0.01, until - time.monotonic()))
            piece = self.connection.recv(65536)
            if not piece:
                raise AssertionError(f"The stream ended after {self.came!r}.")
            self.came += piece
        return self.came

    def end(self) -> bytes:
        """Read to the stream's end."""
        self.connection.settimeout(PATIENCE)
        while piece := self.connection.recv(65536):
            self.came += piece
        return self.came


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with running_web("tests.config.serving.pages:application") as running:
        yield running


@pytest.fixture
def topic() -> str:
    return uuid4().hex


def listening(web: Web) -> int:
    return int(web.get("/listeners").json["open"])


def until_listening(web: Web, number: int) -> None:
    until = time.monotonic() + PATIENCE
    while listening(web) != number:
        assert time.monotonic() < until
        time.sleep(0.02)


def joined(web: Web, topic: str) -> Listener:
    """A listener whose subscription is certain: it has been told of something."""
    publish(topic, {"number": 0})
    listener = Listener(web, topic, after="1-1")
    listener.until(b"event: refetch")
    return listener


def test_what_is_published_comes_at_once_to_those_who_listen_to_it(web: Web, topic: str) -> None:
    one, two, other = joined(web, topic), joined(web, topic), joined(web, topic + "other")
    started = time.monotonic()
    publish(topic, {"number": 1})
    for listener in (one, two):
        assert b"content-type: text/event-stream" in listener.until(b'data: {"number":1}\n\n').lower()
    assert time.monotonic() - started < 2
    publish(topic + "other", {"number": 2})
    assert b'{"number":1}' not in other.until(b'{"number":2}')


def test_streams_hold_no_thread_and_are_forgotten_when_their_clients_go(web: Web, topic: str) -> None:
    before = listening(web)
    listeners = [Listener(web, topic) for _ in range(20 * THREADS)]
    until_listening(web, before + len(listeners))
    assert web.get("/seen").status == 200
    for listener in listeners:
        listener.connection.close()
    until_listening(web, before)


def test_who_comes_back_is_told_what_was_missed_and_nothing_twice(web: Web, topic: str) -> None:
    publish(topic, {"number": 1})
    has = newest_entry(topic)
    for number in (2, 3):
        publish(topic, {"number": number})
    listener = Listener(web, topic, after=has)
    came = listener.until(b'{"number":3}')
    publish(topic, {"number": 4})
    came = listener.until(b'{"number":4}')
    assert [came.count(b'{"number":%d}' % number) for number in (1, 2, 3, 4)] == [0, 1, 1, 1]
    assert came.index(b'{"number":2}') < came.index(b'{"number":3}')
    assert b"refetch" not in came


def test_a_page_that_was_made_before_the_first_entry_misses_none(web: Web, topic: str) -> None:
    has = newest_entry(topic)
    publish(topic, {"number": 1})
    assert b"refetch" not in Listener(web, topic, after=has).until(b'{"number":1}')


@pytest.mark.parametrize("missed", ["too many", "too long ago"])
def test_who_missed_more_than_is_kept_is_told_to_ask_for_all(web: Web, topic: str, missed: str) -> None:
    publish(topic, {"number": 0})
    has = newest_entry(topic) if missed == "too many" else "1000-1"
    for number in range(KEPT_ENTRIES + 1):
        publish(topic, {"number": number})
    assert b"event: refetch" in Listener(web, topic, after=has).until(b"refetch")
    assert client().xlen(stream_key(topic)) == KEPT_ENTRIES


def test_a_lost_connection_to_redis_ends_with_everybody_asking_for_all(web: Web, topic: str) -> None:
    listener = joined(web, topic)
    listener.came = b""
    client().client_kill_filter(_type="pubsub")
    listener.until(b"event: refetch")
    publish(topic, {"number": 5})
    listener.until(b'{"number":5}')


def test_a_server_that_is_about_to_end_ends_its_streams(topic: str) -> None:
    with running_web("tests.config.serving.pages:application") as leaving:
        listener = joined(leaving, topic)
        pid = int(leaving.get("/seen").json["meta"].get("HTTP_X_PID", 0)) or _worker_of(leaving)
        os.kill(pid, signal.SIGUSR1)
        assert listener.end().endswith(b"0\r\n\r\n")
        again = Listener(leaving, topic)
        assert again.end().endswith(b"0\r\n\r\n")


def _worker_of(web: Web) -> int:
    """The process that serves, below the one that watches over it."""
    with open(f"/proc/{web.process.pid}/task/{web.process.pid}/children") as children:
        return int(children.read().split()[0])


def test_a_stream_is_refused_nobody_with_a_broken_id(web: Web, topic: str) -> None:
    listener = Listener(web, topic, after="'; DROP")
    publish(topic, {"number": 1})
    until_publishing(listener, topic)


def until_publishing(listener: Listener, topic: str) -> None:
    """Publish until the listener, who has no id to go on after, hears of it."""
    until = time.monotonic() + PATIENCE
    listener.connection.settimeout(0.2)
    while b"data:" not in listener.came:
        assert time.monotonic() < until
        publish(topic, {"number": 1})
        try:
            listener.came += listener.connection.recv(65536)
        except socket.timeout:  # noqa: UP041
            continue
