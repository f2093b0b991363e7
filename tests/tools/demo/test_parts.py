"""How the demonstration judges what arrives, and how patiently it calls."""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests

from tests.waiting import PATIENCE_SECONDS
from tools.demo.__main__ import main
from tools.demo.api import DemoFailed, PatientClient
from tools.demo.bookings import Books, Figures
from tools.demo.receiver import ReceivedRequest, open_receiver
from tools.demo.tracker import EventTracker, verification_error

SECRET = "whsec_" + "x" * 43
BODY = json.dumps({"id": "1", "event": "workspace.created", "data": {"workspace": {"uuid": "w"}}}).encode()


def delivery(body: bytes = BODY, headers: dict[str, str] | None = None) -> ReceivedRequest:
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    signed = {"x-svc-signature": f"sha256={signature}", "x-svc-event": "workspace.created", "x-svc-delivery": "1"}
    return ReceivedRequest({**signed, **(headers or {})}, body, 10.0)


def test_a_delivery_as_it_should_be_has_no_error() -> None:
    assert verification_error(delivery(), SECRET) is None


def test_any_changed_bit_and_any_other_secret_is_an_error() -> None:
    good = delivery()
    for position in range(len(BODY)):
        body = bytearray(BODY)
        body[position] ^= 1
        assert verification_error(replace(good, body=bytes(body)), SECRET)
    assert verification_error(good, SECRET[:-1])
    assert verification_error(replace(good, headers={}), SECRET)


def test_headers_that_contradict_the_body_are_an_error() -> None:
    assert "event" in (verification_error(delivery(headers={"x-svc-event": "addon.granted"}), SECRET) or "")
    assert "id" in (verification_error(delivery(headers={"x-svc-delivery": "2"}), SECRET) or "")


def test_the_tracker_matches_in_whatever_order_things_become_known() -> None:
    tracker = EventTracker()
    tracker.take(delivery(), SECRET)
    assert tracker.settle() == []
    tracker.expect(("workspace.created", "w"), "Name", answered_at=9.5)
    assert [found.milliseconds for found in tracker.settle()] == [500.0]
    assert tracker.missing == []
    assert tracker.settle() == []


def test_the_tracker_counts_a_repeated_envelope_once() -> None:
    tracker = EventTracker()
    tracker.expect(("workspace.created", "w"), "Name", answered_at=9.5)
    for _ in range(3):
        assert tracker.take(delivery(), SECRET) is None
    assert (len(tracker.settle()), tracker.repetitions) == (1, 2)


def test_a_repeated_envelope_with_another_body_is_an_error() -> None:
    tracker = EventTracker()
    tracker.take(delivery(), SECRET)
    assert tracker.take(delivery(BODY + b" "), SECRET) == "a repeated delivery has another body"


def test_the_tracker_remembers_errors_and_what_is_missing() -> None:
    tracker = EventTracker()
    tracker.expect(("workspace.created", "w"), "Name", answered_at=9.5)
    assert tracker.take(delivery(), "another secret")
    assert (len(tracker.settle()), len(tracker.missing), len(tracker.errors)) == (0, 1, 1)


def test_the_receiver_keeps_the_bytes_as_they_came() -> None:
    with open_receiver() as receiver:
        body = b'{"a":  "\xc3\xa9/"}'
        answer = requests.post(receiver.url, data=body, headers={"X-Svc-Event": "e"}, timeout=60)
        found = receiver.next(PATIENCE_SECONDS)
        assert answer.status_code == 204
        assert found is not None
        assert (found.body, found.headers["x-svc-event"]) == (body, "e")
        assert receiver.next(0) is None
        assert requests.post(receiver.url, data=b"x" * 1_100_000, timeout=60).status_code == 413


def test_a_short_wait_for_the_receiver_ends() -> None:
    with open_receiver() as receiver:

        def wait_often() -> None:
            for _ in range(200):
                receiver.requests.put(ReceivedRequest({}, BODY, 0))
                assert receiver.next(PATIENCE_SECONDS) is not None
                assert receiver.next(1e-7) is None

        waiting = threading.Thread(target=wait_often, daemon=True)
        waiting.start()
        waiting.join(PATIENCE_SECONDS)
        assert not waiting.is_alive()


@contextmanager
def server_that(answer: "Callable[[BaseHTTPRequestHandler, int], None]") -> Iterator[tuple[str, list[str]]]:
    """Serve with one function, which is given the number of the request; gives the address and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer(self, len(asked))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def say(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def test_calls_are_repeated_until_the_system_is_back_and_the_limit_has_passed() -> None:
    def stumble(handler: BaseHTTPRequestHandler, number: int) -> None:
        if number == 1:
            handler.close_connection = True
        elif number == 2:
            say(handler, 503, b'{"message": "Starting."}')
        elif number == 3:
            say(handler, 429, b'{"message": "Too many."}', Retry_After="1")
        else:
            say(handler, 200, b'{"data": [1]}')

    remarks: list[str] = []
    with server_that(stumble) as (url, asked):
        answer = PatientClient(url, "key", remarks.append).call("GET", "/plans")
    assert (answer.data, answer.repeated) == ([1], True)
    assert asked == ["/api/agency/v1/plans"] * 4
    assert remarks == ["No connection. Trying again…", "rate limit reached, waiting 1 seconds…"]


def test_patience_ends() -> None:
    with server_that(lambda handler, _: say(handler, 500, b'{"message": "Server error."}')) as (url, _):
        api = PatientClient(url, "key", lambda _: None, patience=0.1)
        with pytest.raises(DemoFailed, match="no answer within"):
            api.call("GET", "/plans")


def test_a_refusal_ends_the_demonstration_with_its_own_message() -> None:
    with server_that(lambda handler, _: say(handler, 422, b'{"message": "No."}')) as (url, asked):
        with pytest.raises(DemoFailed, match=r"GET /workspaces: 422 No\."):
            PatientClient(url, "key", lambda _: None).call("GET", "/workspaces")
        assert len(asked) == 1


def test_something_that_is_not_the_system_is_recognized() -> None:
    with (
        server_that(lambda handler, _: say(handler, 200, b"<html>")) as (url, _),
        pytest.raises(DemoFailed, match="does not speak this API"),
    ):
        PatientClient(url, "key", lambda _: None).call("GET", "/plans")


BOOKS = Books((1_500, 11_900), (1_500, 1_900))
RIGHT = Figures(clients=8, winners=1, appointments=2, ours=BOOKS, theirs=BOOKS)
# What the product did wrong, and the figures then.
WRONG = {
    "one time given twice": replace(RIGHT, winners=2, appointments=3),
    "a time given to nobody": replace(RIGHT, winners=0),
    "a deposit that booked nothing": replace(RIGHT, appointments=1),
    "a doubled notice counted twice": replace(RIGHT, ours=Books((1_500, 1_500, 11_900), BOOKS.refunds)),
    "a lost notice never made up for": replace(RIGHT, ours=Books((1_500,), BOOKS.refunds)),
    "a refund made twice": replace(RIGHT, theirs=Books(BOOKS.payments, (1_500, 1_900, 1_900))),
    "a refund never made": replace(RIGHT, ours=BOOKS, theirs=Books(BOOKS.payments, (1_500,))),
    "nothing refunded on either side": replace(RIGHT, ours=Books(BOOKS.payments, ()), theirs=Books(BOOKS.payments, ())),
}


def test_figures_of_bookings_are_wrong_whatever_went_wrong() -> None:
    assert RIGHT.problems == []
    assert [what for what, figures in WRONG.items() if not figures.problems] == []


def test_without_two_plans_it_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with server_that(lambda handler, _: say(handler, 200, b'{"data": []}')) as (url, _):
        assert main(["--base-url", url, "--key", "key"]) == 1
    assert "bootstrap" in capsys.readouterr().err
