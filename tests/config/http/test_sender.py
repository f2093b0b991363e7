"""What the sender sends, and what it says came of it."""

import os
import threading
import time
from collections.abc import Callable

import pytest

from config.http.client import HTTPClient
from config.http.transfer import Limits
from tests.config.http.receivers import (
    BODY,
    NO_CONTENT,
    Connection,
    Receiver,
    after_request,
    answer,
    post,
    post_all,
    request_to,
)
from tests.waiting import PATIENCE_SECONDS, in_time, until

StartReceiver = Callable[..., Receiver]


def test_a_request_arrives_as_it_was_submitted(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver()

    result = post(sender, receiver.vetted(path="/a/../b?x=%20"), headers=(("X-Svc-Event", "addon.granted"),))

    assert (result.status, result.error) == (204, None)
    [request] = receiver.requests
    assert request.line == "POST /a/../b?x=%20 HTTP/1.1"
    assert request.body == BODY
    assert request.headers["host"] == f"hooks.acme.io:{receiver.port}"
    assert request.headers["x-svc-event"] == "addon.granted"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["content-length"] == str(len(BODY))


@pytest.mark.parametrize("size", [0, 600, 70_000, 2_000_000])
def test_a_body_of_any_size_is_sent_without_asking_first(
    start_receiver: StartReceiver, sender: HTTPClient, size: int
) -> None:
    receiver = start_receiver()

    result = post(sender, receiver.vetted(), body=b"\0\xff" * (size // 2))

    assert result.error is None
    assert receiver.requests[0].body == b"\0\xff" * (size // 2)
    assert "expect" not in receiver.requests[0].headers


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_is_a_success(start_receiver: StartReceiver, sender: HTTPClient, status: int) -> None:
    receiver = start_receiver(answer(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status))

    result = post(sender, receiver.vetted())

    assert (result.status, result.error) == (status, None)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        *((300, "http_3xx"), (304, "http_3xx"), (400, "http_4xx"), (404, "http_4xx"), (410, "http_4xx")),
        *((500, "http_5xx"), (503, "http_5xx"), (600, "invalid_answer"), (999, "invalid_answer")),
    ],
)
def test_any_other_status_is_a_failure(
    start_receiver: StartReceiver, sender: HTTPClient, status: int, error: str
) -> None:
    receiver = start_receiver(answer(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status))

    result = post(sender, receiver.vetted())

    assert (result.status, result.error) == (status, error)


def test_an_interim_answer_is_not_the_answer(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(answer(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + NO_CONTENT))

    result = post(sender, receiver.vetted())

    assert (result.status, result.error) == (204, None)
    assert result.response_head == NO_CONTENT


def test_the_answer_is_kept_for_the_log(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    data = b"HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\nX-Trace:  7 \r\nContent-Length: 5\r\n\r\nsorry"
    receiver = start_receiver(answer(data))

    result = post(sender, receiver.vetted())

    assert result.response_headers == (("Content-Type", "text/plain"), ("X-Trace", "7"), ("Content-Length", "5"))
    assert result.response_body == b"sorry"
    assert result.response_text == "sorry"
    assert result.remote_address == "127.0.0.1"
    assert not result.cut


def test_times_are_given_in_their_order(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    """Each is held against the receiver's own clock, which runs between the request and the answer."""
    received, answered = list[float](), list[float]()

    def slow(connection: Connection) -> None:
        received.append(time.time())
        time.sleep(0.05)
        answered.append(time.time())
        connection.send(NO_CONTENT)

    receiver = start_receiver(after_request(slow))
    before = time.time()

    result = post(sender, receiver.vetted(), dns_ms=25.0)

    assert result.dns_ms == 25.0
    assert result.connect_ms is not None
    assert result.first_byte_ms is not None
    assert result.tls_ms is None
    assert 0 < result.connect_ms < result.first_byte_ms <= result.total_ms
    assert before - 0.026 <= result.started_at <= received[0] - 0.025
    assert result.first_byte_ms - result.connect_ms >= (answered[0] - received[0]) * 1_000 - 1
    assert result.started_at + result.first_byte_ms / 1_000 >= answered[0] - 0.001


def test_time_spent_on_the_name_counts(start_receiver: StartReceiver, make_sender: Callable[..., HTTPClient]) -> None:
    receiver = start_receiver(after_request(lambda connection: connection.hang()))
    sender = make_sender(limits=Limits(total_ms=3_600_000, connect_ms=3_599_900))

    result = post(sender, receiver.vetted(), dns_ms=3_599_000.0)

    assert result.error == "timeout"
    assert result.total_ms >= 3_599_990


def test_a_connection_is_kept_for_the_next_request(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver()

    results = [post(sender, receiver.vetted(path=f"/{number}")) for number in range(5)]

    assert [result.reused for result in results] == [False, True, True, True, True]
    assert results[1].connect_ms is None
    assert len(receiver.connections) == 1
    assert [request.line.split()[1] for request in receiver.requests] == ["/0", "/1", "/2", "/3", "/4"]


def test_a_connection_that_the_receiver_closed_meanwhile_is_replaced(
    start_receiver: StartReceiver, sender: HTTPClient
) -> None:
    receiver = start_receiver(after_request(lambda connection: connection.send(NO_CONTENT)))

    results = []
    for _ in range(5):
        results.append(post(sender, receiver.vetted()))
        sender.poll(0.05)  # an idle loop sees the hang-up

    assert [result.error for result in results] == [None] * 5
    assert len(receiver.requests) == 5


def test_a_hang_up_on_an_idle_connection_does_not_keep_the_loop_awake(
    start_receiver: StartReceiver, sender: HTTPClient
) -> None:
    receiver = start_receiver(after_request(lambda connection: connection.send(NO_CONTENT)))
    post(sender, receiver.vetted())
    started = time.monotonic()

    polls = 0
    while time.monotonic() - started < 0.3:
        sender.poll(0.1)
        polls += 1

    assert polls < 10


def test_many_requests_go_side_by_side(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    all_are_there = threading.Barrier(64, timeout=PATIENCE_SECONDS)

    def wait_for_the_others(connection: Connection) -> None:
        all_are_there.wait()
        connection.send(NO_CONTENT)

    receiver = start_receiver(after_request(wait_for_the_others))

    results = post_all(sender, [request_to(receiver.vetted(), key=key) for key in range(64)])

    assert {result.error for result in results.values()} == {None}
    assert sender.in_flight == 0


def test_an_answer_is_returned_as_soon_as_it_is_there(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver()

    def send() -> str | None:
        sender.submit(request_to(receiver.vetted()))
        while not (results := sender.poll(3_600)):
            pass
        return results[0].error

    for _ in range(30):
        assert in_time(send) is None


def test_requests_under_way_are_counted(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver()
    sender.submit(request_to(receiver.vetted()))
    sender.submit(request_to(receiver.vetted(), key=2))

    assert sender.in_flight == 2


def test_another_thread_can_end_the_wait(sender: HTTPClient) -> None:
    timer = threading.Timer(0.1, sender.wake)
    timer.start()

    assert in_time(lambda: sender.poll(3_600)) == []

    timer.join()


def test_a_wake_up_before_the_wait_is_not_lost_and_ends_no_other_one(sender: HTTPClient) -> None:
    for _ in range(100_000):
        sender.wake()

    assert in_time(lambda: sender.poll(3_600)) == []
    assert not sender.was_idle
    assert sender.poll(0) == []
    assert sender.was_idle


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nb", "a\0b", "ä"])
def test_a_header_cannot_smuggle_another(start_receiver: StartReceiver, sender: HTTPClient, value: str) -> None:
    receiver = start_receiver()

    with pytest.raises(ValueError, match="header"):
        sender.submit(request_to(receiver.vetted(), headers=(("X-Svc-Event", value),)))

    assert sender.in_flight == 0
    assert post(sender, receiver.vetted()).error is None


def test_a_refused_connection_is_reported(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver()
    receiver.close()

    result = post(sender, receiver.vetted())

    assert (result.status, result.error) == (None, "refused")
    assert result.connect_ms is None


def test_closing_leaves_what_is_under_way(
    start_receiver: StartReceiver, make_sender: Callable[..., HTTPClient]
) -> None:
    receiver = start_receiver(after_request(lambda connection: connection.hang()))
    sender = make_sender()
    sender.submit(request_to(receiver.vetted()))
    sender.poll(0.1)

    sender.close()

    assert sender.in_flight == 0
    sender.wake()


def test_more_requests_than_connections_take_turns(
    start_receiver: StartReceiver, make_sender: Callable[..., HTTPClient]
) -> None:
    def slow(connection: Connection) -> None:
        time.sleep(0.02)
        connection.send(NO_CONTENT)

    receiver = start_receiver(after_request(slow))
    sender = make_sender(most_connections=4)

    results = post_all(sender, [request_to(receiver.vetted(f"h{key % 7}.acme.io"), key=key) for key in range(40)])

    assert {result.error for result in results.values()} == {None}
    assert len(receiver.requests) == 40


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def test_no_descriptor_is_left_behind(start_receiver: StartReceiver, make_sender: Callable[..., HTTPClient]) -> None:
    receiver = start_receiver()
    before = open_files()
    sender = make_sender(most_connections=10)

    for number in range(5):
        post_all(sender, [request_to(receiver.vetted(f"h{key}.acme.io"), key=key) for key in range(100)])
        # Both ends of the connections are in this process; the receiver hangs up a moment after the sender.
        until(lambda: open_files() - before < 10 + 2 * 10 + 10, what=f"few descriptors after {number}")

    sender.close()
    receiver.close()
    assert open_files() <= before


def test_every_request_has_its_own_headers_whatever_its_handle_had_before(
    start_receiver: StartReceiver, sender: HTTPClient
) -> None:
    receiver = start_receiver()
    first, second = (("X-Number", "1"), ("X-Odd", "1")), (("X-Number", "2"),)
    asked = [(first, b"{}"), (first, b"a" * 2_000_000), (second, b"{}"), (first, b"{}"), (first, b"{}"), ((), b"{}")]

    for headers, body in asked:
        assert post(sender, receiver.vetted(), headers=headers, body=body).error is None

    sent = [{name: one.headers.get(name) for name in ("x-number", "x-odd", "expect")} for one in receiver.requests]
    none = dict.fromkeys(("x-number", "x-odd", "expect"))
    assert sent == [none | {name.lower(): value for name, value in headers} for headers, _ in asked]
    assert {one.headers["accept-encoding"] for one in receiver.requests} == {"identity"}
