"""Calls of web addresses: what is sent, what comes back, what may not be reached, and what a slow host delays."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.config.http.receivers import Behaviour, Connection, Receiver, after_request, answer
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, until
from tests.workspaces.automations.calls.conftest import StartCalls
from tests.workspaces.automations.calls.planned import ask, ended, planned, refusal
from workspaces.automations.dispatcher import claiming, loop, preparing
from workspaces.automations.dispatcher.claiming import MOST_OF_PEER_IN_WORKSPACE
from workspaces.automations.execution.types import CallHttp
from workspaces.automations.models import OutsideCall

pytestmark = pytest.mark.django_db(transaction=True)

Receive = Callable[[Behaviour], Receiver]


def reply(head: str, body: bytes = b"") -> bytes:
    return f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


JSON = "200 OK\r\nContent-Type: application/json"


@pytest.fixture
def receive() -> Iterator[Receive]:
    """Start receivers; they are closed with the test."""
    started: list[Receiver] = []

    def start(behaviour: Behaviour) -> Receiver:
        started.append(Receiver(behaviour))
        return started[-1]

    yield start
    for one in started:
        one.close()


def to(receiver: Receiver, method: str = "POST", **changes: Any) -> CallHttp:
    return CallHttp(method=method, url=f"http://127.0.0.1:{receiver.port}/hook?a=1", **changes)


@pytest.mark.usefixtures("calls")
def test_a_call_is_sent_as_the_step_says(a: Tenant, receive: Receive) -> None:
    receiver = receive(answer(reply(JSON, b'{"stock": 3}')))
    headers = (("X-Token", "secret-7"), ("Host", "evil.example.com"), ("Idempotency-Key", "mine"))
    [run] = planned(a, to(receiver, "PUT", headers=headers, body='{"city": "Köln"}'))
    assert ended(run) == {"ok": True, "result": {"status": 200, "text": '{"stock": 3}'}, "code": ""}
    [received] = receiver.requests
    assert received.line == "PUT /hook?a=1 HTTP/1.1"
    assert received.body.decode() == '{"city": "Köln"}'
    assert received.headers["x-token"] == "secret-7"
    assert received.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert received.headers["idempotency-key"] == f"{run.uuid}-3"
    assert received.headers["content-type"] == "application/json"
    assert OutsideCall.objects.get(run_id=run.pk).request is None


@pytest.mark.usefixtures("calls")
def test_each_method_has_its_body(a: Tenant, receive: Receive) -> None:
    receiver = receive(answer(reply(JSON, b"{}")))
    for method in ("GET", "POST", "DELETE", "GET", "PATCH"):
        assert ask(a, to(receiver, method, body="hello"))["ok"]
    sent = [(request.line.split()[0], request.body) for request in receiver.requests]
    assert sent == [
        ("GET", b""),
        *((method, b"hello") for method in ("POST", "DELETE")),
        ("GET", b""),
        ("PATCH", b"hello"),
    ]


@pytest.mark.usefixtures("calls")
def test_answers_that_are_no_result(a: Tenant, receive: Receive) -> None:
    page = "Content-Type: text/html; charset=utf-8"
    found = ask(a, to(receive(answer(reply(f"404 Not Found\r\n{page}", b"<p>no</p>")))))
    assert found == {"ok": False, "result": {"status": 404, "text": "<p>no</p>"}, "code": "http_4xx"}
    elsewhere = receive(answer(reply(JSON, b"{}")))
    moved = receive(answer(reply(f"302 Found\r\nLocation: http://127.0.0.1:{elsewhere.port}/")))
    assert ask(a, to(moved))["code"] == "http_3xx"
    assert not elsewhere.requests
    image = ask(a, to(receive(answer(reply("200 OK\r\nContent-Type: image/png", b"\x89PNG")))))
    assert image == {"ok": False, "result": {"status": 200, "text": ""}, "code": "not_text"}
    large = ask(a, to(receive(answer(reply(JSON, b"x" * 70_000)))))
    assert large["code"] == "too_large"
    assert len(large["result"]["text"]) <= 64 * 1024


@pytest.mark.usefixtures("short_calls")
def test_a_call_without_an_answer_ends(a: Tenant, receive: Receive) -> None:
    assert ask(a, to(receive(after_request(Connection.hang)))) == refusal("timeout")


@pytest.mark.usefixtures("calls")
def test_an_unavailable_address_is_called_once_more(a: Tenant, receive: Receive) -> None:
    receiver = receive(answer(reply("503 Service Unavailable\r\nContent-Type: text/plain", b"later")))
    assert ask(a, to(receiver))["code"] == "http_5xx"
    assert len({request.headers["idempotency-key"] for request in receiver.requests}) == 1
    assert len(receiver.requests) == 2


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://10.0.0.7/", "address_refused"),
        ("http://169.254.169.254/latest/meta-data", "address_refused"),
        ("ftp://93.184.215.14/", "address_refused"),
        ("http://user:password@93.184.215.14/", "address_refused"),
        ("not a url", "address_refused"),
        ("http://[::1", "address_refused"),
    ],
)
@pytest.mark.usefixtures("calls")
def test_what_may_not_be_reached(a: Tenant, url: str, code: str) -> None:
    assert ask(a, CallHttp(method="GET", url=url)) == refusal(code)


@pytest.mark.usefixtures("calls")
def test_headers_cannot_smuggle(a: Tenant, receive: Receive) -> None:
    receiver = receive(answer(reply(JSON, b"{}")))
    for header in (("X-A", "1\r\nX-B: 2"), ("X A", "1"), ("X-A", "ü"), ("X:", "1")):
        assert ask(a, to(receiver, headers=(header,))) == refusal("bad_header")
    assert ask(a, to(receiver, body="x" * 200_000)) == refusal("too_large")
    assert not receiver.requests


def test_a_slow_host_delays_no_other(
    a: Tenant, receive: Receive, provider: object, start_calls: StartCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow calls last as long as the test, so none of them gives its place to the next."""
    longest_ms = round(1_000 * PATIENCE_SECONDS)
    for module in (preparing, claiming):
        monkeypatch.setattr(module, "HTTP_MS", longest_ms)
    monkeypatch.setattr(loop, "LIMITS", loop.LIMITS._replace(total_ms=longest_ms))
    start_calls(longest_ms=longest_ms)
    slow, quick = receive(after_request(Connection.hang)), receive(answer(reply(JSON, b"{}")))
    planned(a, *[to(slow)] * 30)
    until(lambda: len(slow.requests) == MOST_OF_PEER_IN_WORKSPACE, what="the slow calls")
    # The hosts differ by name, as the port does not count.
    named = CallHttp(method="POST", url=f"http://localhost:{quick.port}/")
    assert ask(a, named)["ok"]
    other = WorkspaceFactory.create(agency=a.agency)
    ChannelFactory.create(workspace=other)
    [run] = planned(a, named, workspace=other)
    assert ended(run)["ok"]
    assert len(slow.requests) == MOST_OF_PEER_IN_WORKSPACE
    slow.close()
