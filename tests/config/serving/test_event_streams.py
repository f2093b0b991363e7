"""Open pages are told what happens: at once, without a gap, without a thread or a query for each of them."""

import os
import signal
from contextlib import suppress
from uuid import uuid4

import pytest

from config.event_streams import STREAM_MAXLEN, latest_entry_id, publish, stream_key
from config.redis import client
from config.serving.event_streams import HEARTBEAT
from tests.config.serving.conftest import PAGES
from tests.config.serving.web import THREADS, Web, head, running_web
from tests.subscribers import cut_subscribers
from tests.waiting import until


class Listener:
    """A page that has a topic open."""

    def __init__(self, web: Web, topic: str, after: str = "") -> None:
        lines = [f"Last-Event-ID: {after}"] if after else []
        self.connection = web.send(head("GET", f"/events/{topic}", *lines))
        self.came = b""

    def until(self, *texts: bytes) -> bytes:
        """Read until all of these have come; give everything that came."""

        def have_come() -> bool:
            if all(text in self.came for text in texts):
                return True
            piece = self.connection.recv(65536)
            assert piece, f"The stream ended after {self.came!r}."
            self.came += piece
            return False

        until(have_come, what=f"{texts}")
        return self.came

    def end(self) -> bytes:
        """Read to the stream's end."""

        def has_ended() -> bool:
            piece = self.connection.recv(65536)
            self.came += piece
            return not piece

        until(has_ended, what="the stream's end")
        return self.came


@pytest.fixture
def topic() -> str:
    return uuid4().hex


def listening(web: Web) -> int:
    return int(web.get("/listeners").json["open"])


def wait_for_listeners(web: Web, number: int) -> None:
    until(lambda: listening(web) == number, what=f"{number} listeners")


def joined(web: Web, topic: str) -> Listener:
    """A listener whose subscription is certain: it has been told of something."""
    publish(topic, {"number": 0})
    listener = Listener(web, topic, after="1-1")
    listener.until(b"event: refetch")
    return listener


def test_what_is_published_comes_at_once_to_those_who_listen_to_it(web: Web, topic: str) -> None:
    one, two, other = joined(web, topic), joined(web, topic), joined(web, topic + "other")
    publish(topic, {"number": 1})
    for listener in (one, two):
        came = listener.until(b'data: {"number":1}\n\n')
        assert b"content-type: text/event-stream" in came.lower()
        assert HEARTBEAT not in came, "it came before the first look whether they are still there"
    publish(topic + "other", {"number": 2})
    assert b'{"number":1}' not in other.until(b'{"number":2}')


def test_streams_hold_no_thread_and_are_forgotten_when_their_clients_go(web: Web, topic: str) -> None:
    listeners = [Listener(web, topic) for _ in range(20 * THREADS)]
    wait_for_listeners(web, len(listeners))
    assert web.get("/seen").status == 200
    for listener in listeners:
        listener.connection.close()
    wait_for_listeners(web, 0)


def test_who_comes_back_is_told_what_was_missed_and_nothing_twice(web: Web, topic: str) -> None:
    publish(topic, {"number": 1})
    has = latest_entry_id(topic)
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
    has = latest_entry_id(topic)
    publish(topic, {"number": 1})
    assert b"refetch" not in Listener(web, topic, after=has).until(b'{"number":1}')


@pytest.mark.parametrize("missed", ["too many", "too long ago"])
def test_who_missed_more_than_is_kept_is_told_to_ask_for_all(web: Web, topic: str, missed: str) -> None:
    publish(topic, {"number": 0})
    has = latest_entry_id(topic) if missed == "too many" else "1000-1"
    for number in range(STREAM_MAXLEN + 1):
        publish(topic, {"number": number})
    assert b"event: refetch" in Listener(web, topic, after=has).until(b"refetch")
    assert client().xlen(stream_key(topic)) == STREAM_MAXLEN


def test_a_lost_connection_to_redis_ends_with_everybody_asking_for_all(web: Web, topic: str) -> None:
    listener = joined(web, topic)
    listener.came = b""
    assert cut_subscribers() >= 1
    listener.until(b"event: refetch")
    publish(topic, {"number": 5})
    listener.until(b'{"number":5}')


def test_a_server_that_is_about_to_end_ends_its_streams(topic: str) -> None:
    with running_web(PAGES) as leaving:
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
    listener.connection.settimeout(0.2)
    until(lambda: publish_and_hear(listener, topic), what="what is published to be heard")


def publish_and_hear(listener: Listener, topic: str) -> bool:
    """Publish once more: who has no id to go on after may not have been listening yet."""
    publish(topic, {"number": 1})
    with suppress(TimeoutError):
        listener.came += listener.connection.recv(65536)
    return b"data:" in listener.came
