"""What only a real server and raw bytes can show: bodies without a length, cut short, or chunked."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.api.conftest import AGENCY
from tests.config.serving.web import running_web
from tests.waiting import PATIENCE_SECONDS

KEY = "svc_ag_" + "A" * 34 + "0LzEfF"
SUSPEND, ECHO = f"{AGENCY}/suspend", f"{AGENCY}/echo"


def talk(address: str, request: bytes, *, half_close: bool = False) -> tuple[int, bytes]:
    """Send bytes, give the status and everything that followed."""
    where = urlsplit(address)
    with socket.create_connection((where.hostname, where.port), timeout=PATIENCE_SECONDS) as wire:
        wire.sendall(request)
        if half_close:
            wire.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := wire.recv(65536):
            answer += piece
    return int(answer.split(b" ", 2)[1]), answer


def head(path: str, key: str, *lines: str) -> bytes:
    fixed = (f"POST {path} HTTP/1.1", "Host: localhost", f"x-api-key: {key}", "Connection: close")
    return "\r\n".join([*fixed, "Content-Type: application/json", *lines, "", ""]).encode()


@pytest.mark.django_db(transaction=True)
def test_a_chunked_body_is_refused_and_never_taken_for_an_empty_one(live_server: LiveServer, agency_key: str) -> None:
    chunked = head(SUSPEND, agency_key, "Transfer-Encoding: chunked") + b'7\r\n{"a":1}\r\n0\r\n\r\n'
    status, answer = talk(live_server.url, chunked)
    assert status == 400
    assert b'{"message":"This server cannot read a body that is sent in chunks."}' in answer


@pytest.mark.django_db(transaction=True)
def test_a_body_that_ends_too_early_is_400(live_server: LiveServer, agency_key: str) -> None:
    cut = head(ECHO, agency_key, "Content-Length: 20") + b'{"a":1}'
    status, answer = talk(live_server.url, cut, half_close=True)
    assert status == 400
    assert b"The body is shorter than its Content-Length." in answer


@pytest.fixture(scope="module")
def granian() -> Iterator[str]:
    """The test surfaces behind the server that production uses, with the one key it is given."""
    with running_web("tests.api.surfaces.asgi:application", {"TEST_KEY": KEY}) as web:
        yield f"http://127.0.0.1:{web.port}"


def test_granian_passes_bodies_so_that_none_is_lost(granian: str) -> None:
    body = b'{"reason":"late"}'
    plain = head(SUSPEND, KEY, f"Content-Length: {len(body)}") + body
    status, answer = talk(granian, plain)
    assert status == 200
    assert answer.endswith(b'{"data":{"reason":"late"}}')
    status, answer = talk(granian, head(SUSPEND, KEY))
    assert status == 200
    assert answer.endswith(b'{"data":{}}')
    status, answer = talk(granian, head(SUSPEND, KEY, "Transfer-Encoding: chunked") + b'7\r\n{"a":1}\r\n0\r\n\r\n')
    assert status == 200
    assert answer.endswith(b'{"data":{"a":1}}')


def test_granian_answers_a_large_body_before_it_is_sent(granian: str) -> None:
    status, _ = talk(granian, head(ECHO, KEY, "Content-Length: 1048577"))
    assert status == 413


def test_granian_joins_repeated_key_headers_and_they_are_no_key(granian: str) -> None:
    status, answer = talk(granian, head(ECHO, KEY, f"x-api-key: {KEY}", "Content-Length: 2") + b"{}")
    assert status == 401
    assert b"Invalid API key." in answer


@pytest.mark.parametrize("target", [f"{AGENCY}/%00", f"{AGENCY}/%ff%fe", f"{AGENCY}/things?search=%00%ff", "/api/%0a"])
def test_odd_bytes_in_the_address_are_no_fault_of_the_server(granian: str, target: str) -> None:
    lines = [f"GET {target} HTTP/1.1", "Host: localhost", f"x-api-key: {KEY}", "Connection: close", "", ""]
    status, answer = talk(granian, "\r\n".join(lines).encode())
    assert status in (200, 404)
    assert b"application/json" in answer
