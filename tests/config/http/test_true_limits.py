"""The limits that the product runs with, all waited for at once."""

import threading
import time
from collections.abc import Callable

import pytest

from config.http.client import Sender
from config.http.lookups import LookupFailed
from config.http.resolver import Resolver
from tests.config.http.receivers import Connection, Receiver, after_request, post_all, request_to

OK = b"HTTP/1.1 200 OK\r\n"
# For a machine that is busy with something else; less than what lies between any two of the limits.
ROOM_SECONDS = 2.5


def drip_head(connection: Connection) -> None:
    connection.drip(OK + b"X-Drip: " + b"a" * 1000, every_s=0.1)


def drip_body(connection: Connection) -> None:
    connection.send(OK + b"Content-Length: 1000\r\n\r\n")
    connection.drip(b"a" * 1000, every_s=0.1)


class DeadNameServer:
    """Never answers; records when the look-up was given up."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self.given_up_at = 0.0

    def look_up(self, _host: str) -> tuple[str, ...]:
        self.closing.wait(20)
        return ()

    def record_end(self) -> None:
        self.given_up_at = time.monotonic()
        self.closing.set()


@pytest.mark.slow
def test_an_attempt_takes_ten_seconds_at_most_five_to_connect_and_two_to_look_up(
    start_receiver: Callable[..., Receiver], make_sender: Callable[..., Sender]
) -> None:
    silent = start_receiver(lambda connection: connection.hang())
    ways = {
        "accepts and never answers": silent.vetted(),
        "never shakes hands": silent.vetted_for_tls(),
        "drips its head": start_receiver(after_request(drip_head)).vetted(),
        "drips its body": start_receiver(after_request(drip_body)).vetted(),
    }
    sender = make_sender()
    dead = DeadNameServer()
    started = time.monotonic()
    looked_up = Resolver(dead.look_up).submit("hooks.acme.io")
    looked_up.add_done_callback(lambda _future: dead.record_end())

    results = post_all(sender, [request_to(vetted, key=key) for key, vetted in enumerate(ways.values())])

    took = time.monotonic() - started
    outcomes = {name: results[key].error for key, name in enumerate(ways)}
    assert outcomes == {
        "accepts and never answers": "timeout",
        "never shakes hands": "connect_timeout",
        "drips its head": "timeout",
        "drips its body": "timeout",
    }
    assert 9.9 < took < 10 + ROOM_SECONDS
    for key, name in enumerate(ways):
        limit = 5_000 if name == "never shakes hands" else 10_000
        assert limit - 20 <= results[key].total_ms <= limit + ROOM_SECONDS * 1_000, name
    assert isinstance(looked_up.exception(), LookupFailed)
    assert 2 <= dead.given_up_at - started < 2 + ROOM_SECONDS
