"""The limits that the product runs with; that for connecting is shown with TLS, that for look-ups with the resolver."""

from collections.abc import Callable
from inspect import signature

from config.http.client import Sender
from config.http.exchange import Limits
from config.http.resolver import Resolver
from tests.config.http.receivers import Connection, Receiver, after_request, post_all, request_to

OK = b"HTTP/1.1 200 OK\r\n"
AN_HOUR = 3_600_000


def drip_head(connection: Connection) -> None:
    connection.drip(OK + b"X-Drip: " + b"a" * 10_000, every_s=0.1)


def drip_body(connection: Connection) -> None:
    connection.send(OK + b"Content-Length: 10000\r\n\r\n")
    connection.drip(b"a" * 10_000, every_s=0.1)


def test_an_attempt_takes_ten_seconds_at_most_five_to_connect_and_two_to_look_up() -> None:
    assert (Limits().total_ms, Limits().connect_ms) == (10_000, 5_000)
    assert signature(Resolver).parameters["timeout_s"].default == 2.0


def test_the_whole_attempt_is_bounded(
    start_receiver: Callable[..., Receiver], make_sender: Callable[..., Sender]
) -> None:
    ways = [
        start_receiver(behaviour).vetted()
        for behaviour in (Connection.hang, after_request(drip_head), after_request(drip_body))
    ]
    sender = make_sender(limits=Limits(total_ms=1_000, connect_ms=AN_HOUR))

    results = post_all(sender, [request_to(vetted, key=key) for key, vetted in enumerate(ways)])

    assert [results[key].error for key in range(len(ways))] == ["timeout"] * len(ways)
    assert all(result.total_ms >= 990 for result in results.values())
