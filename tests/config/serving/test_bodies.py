"""A body is read whole, in bounded time and size, before any thread is held; nothing is lost on its way to a view."""

import hashlib
import select
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from config.request_bodies import MIB
from config.serving.application import WAIT_SECONDS
from config.serving.bodies import FIRST_SECONDS
from tests.config.serving.conftest import PAGES
from tests.config.serving.web import FILE_BYTES, THREADS, Gate, Web, head, read, running_web
from tests.waiting import until

FORM = "Content-Type: application/octet-stream"
HALF = head("POST", "/seen", "Content-Length: 1000", FORM) + b"half"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """What holds threads of the server until the test opens it, or has ended."""
    made = Gate(tmp_path)
    yield made
    made.open()


def post(path: str, body: bytes, *lines: str) -> bytes:
    return head("POST", path, f"Content-Length: {len(body)}", "Connection: close", FORM, *lines) + body


def test_half_sent_bodies_hold_no_thread_and_end_with_408(web: Web) -> None:
    """Under the shorter limit those end that began under it, and no earlier one."""
    assert FIRST_SECONDS == 10
    web.get("/limits?body=3600")
    before = web.get("/begun").json["bodies"]
    patient = [web.send(HALF) for _ in range(50)]
    until(lambda: web.get("/begun").json["bodies"] == before + 50, what="the patient bodies to begin")
    web.get("/limits?body=0.5")
    half = [web.send(HALF) for _ in range(50)]
    answers = [read(connection) for connection in half]
    assert {(answer.status, answer.is_closed) for answer in answers} == {(408, True)}
    assert select.select(patient, [], [], 0)[0] == []


def test_a_body_below_the_api_that_comes_too_slowly_is_refused_in_json(web: Web) -> None:
    """Each byte of it comes within the limit; all of them do not."""
    web.get("/limits?body=1")
    dripping = web.send(head("POST", "/api/x", "x-api-key: k", "Content-Length: 100000", "X-Request-Id: slow"))
    dripping.settimeout(0.05)

    def drip() -> bytes:
        try:
            dripping.sendall(b"x")
            return dripping.recv(65536)
        except TimeoutError:
            return b""

    answer = until(drip, what="an answer to a body that drips")
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"x-request-id: slow" in answer
    assert answer.endswith(b'{"message":"The body came too slowly."}')


@pytest.mark.parametrize(
    ("path", "size", "status"), [("/seen", MIB, 200), ("/seen", MIB + 1, 413), ("/upload", 20 * MIB, 200)]
)
def test_each_path_has_its_size(web: Web, path: str, size: int, status: int) -> None:
    body = b"ab" * (size // 2) + b"c" * (size % 2)
    connection = web.send(head("POST", path, f"Content-Length: {size}", "Connection: close", FORM))
    try:
        connection.sendall(body)
    except OSError:
        assert status == 413
    reply = read(connection)
    assert reply.status == status
    if status == 200:
        assert (reply.json["length"], reply.json["sha256"]) == (size, hashlib.sha256(body).hexdigest())


def test_a_body_in_chunks_is_read_like_any_other(web: Web) -> None:
    chunks = head("POST", "/seen", "Transfer-Encoding: chunked", "Connection: close")
    reply = web.talk(chunks + b"3;name=value\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert (reply.json["length"], reply.json["meta"]["CONTENT_LENGTH"]) == (5, "5")
    assert "HTTP_TRANSFER_ENCODING" not in reply.json["meta"]
    endless = web.send(chunks)
    with suppress(OSError):  # what is too large is not read to its end
        for _ in range(200):
            endless.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
    with suppress(OSError):
        assert endless.recv(65536).startswith(b"HTTP/1.1 413")
    assert web.get("/seen").status == 200


def test_a_client_that_may_not_continue_is_asked_to_only_once_its_body_is_wanted(web: Web) -> None:
    asking = web.send(head("POST", "/seen", "Content-Length: 3", "Expect: 100-continue", "Connection: close"))
    assert asking.recv(100).startswith(b"HTTP/1.1 100")
    asking.sendall(b"abc")
    assert read(asking).json["length"] == 3


def test_a_body_without_the_header_it_needs_is_left_unread(web: Web) -> None:
    unsigned = web.talk(head("POST", "/signed", "Content-Length: 1000"))
    assert (unsigned.status, unsigned.body, unsigned.is_closed) == (403, b"no signature", True)
    assert web.talk(post("/signed", b"four", "X-Signature: s")).body == b"4"


@pytest.mark.parametrize(
    "cut",
    [HALF, head("POST", "/seen", "Transfer-Encoding: chunked", FORM) + b"4\r\nhalf\r\n"],
    ids=["measured", "chunks"],
)
def test_a_body_cut_short_reaches_no_view(web: Web, cut: bytes) -> None:
    connection = web.send(cut)
    connection.shutdown(socket.SHUT_WR)
    assert b" 200 " not in read(connection).raw


def test_what_was_begun_is_finished_before_a_server_ends(gate: Gate) -> None:
    """It is let go when the server has begun to end, which closes the connections over which nothing comes."""
    with running_web(PAGES) as ending:
        idle = ending.send(head("GET", "/healthz"))
        assert idle.recv(65536).startswith(b"HTTP/1.1 200")
        begun = ending.send(head("GET", f"/wait?gate={gate.folder}"))
        gate.wait_for(1)
        ending.process.terminate()
        assert idle.recv(65536) == b""
        gate.open()
        assert read(begun).body == b"let go"


def test_a_view_is_told_what_came(web: Web) -> None:
    lines = ("X-Twice: a", "X-Twice: b", "Cookie: a=1", "Cookie: b=2", "X_Forwarded_For: 1.2.3.4", "Connection: close")
    reply = web.talk(head("GET", "/seen%2Fa%20b/%C3%A4/%ff?q=%ff", *lines))
    meta = reply.json["meta"]
    assert meta["HTTP_X_TWICE"] == "a,b"
    assert meta["HTTP_COOKIE"] == "a=1; b=2"
    assert "HTTP_X_FORWARDED_FOR" not in meta
    assert reply.json["path"] == "/seen/a b/\u00e4/%FF"
    assert (meta["SCRIPT_NAME"], meta["REMOTE_ADDR"], meta["REQUEST_METHOD"]) == ("", "127.0.0.1", "GET")
    assert (meta["QUERY_STRING"], reply.json["secure"]) == ("q=%ff", False)


def test_what_is_asked_by_head_has_a_length_and_no_body(web: Web) -> None:
    reply = web.talk(head("HEAD", "/seen", "Connection: close"))
    assert reply.body == b""
    assert b"content-length: " in reply.head
    assert b"content-length: 0" not in reply.head


def test_pipelined_requests_are_answered_in_turn(web: Web) -> None:
    first, second = (head("POST", f"/seen/{name}", "Content-Length: 1") + b"x" for name in "ab")
    both = web.talk(first + second + head("GET", "/seen/c", "Connection: close"))
    places = [both.raw.index(f'"path": "/seen/{name}"'.encode()) for name in "abc"]
    assert places == sorted(places)


def test_pieces_come_as_they_are_made(web: Web, gate: Gate) -> None:
    """The second one is made when the first one has come."""
    connection = web.send(head("GET", f"/stream/short?gate={gate.folder}", "Connection: close"))
    came = b""
    while b"first" not in came:
        came += connection.recv(65536)
    assert b"more" not in came
    gate.open()
    assert read(connection).raw.count(b"more") == 3


def test_a_stream_that_fails_does_not_read_like_a_whole_one(web: Web) -> None:
    reply = web.get("/stream/fails")
    assert b"first" in reply.body
    assert not reply.body.endswith(b"0\r\n\r\n")


def test_a_client_that_goes_or_stops_reading_holds_no_thread(web: Web) -> None:
    gone = [web.send(head("GET", "/stream/endless")) for _ in range(THREADS)]
    for connection in gone:
        connection.recv(65536)
        connection.close()
    until(lambda: web.get("/streams").json["open"] == 0, what="the streams to be left")
    files = [web.send(head("GET", "/file")) for _ in range(THREADS * 3)]
    assert web.get("/seen").status == 200
    for connection in files:
        connection.close()


def test_a_large_file_comes_whole(web: Web) -> None:
    reply = web.get("/file")
    assert (len(reply.body), f"content-length: {FILE_BYTES}".encode() in reply.head) == (FILE_BYTES, True)


def test_liveness_and_a_bound_while_all_threads_are_held(web: Web, gate: Gate) -> None:
    assert WAIT_SECONDS == 5
    web.get("/limits?thread=0.5")
    held = [web.send(head("GET", f"/wait?gate={gate.folder}", "Connection: close")) for _ in range(THREADS)]
    gate.wait_for(THREADS)
    assert web.get("/healthz").status == 200
    waiting = web.get("/seen")
    assert (waiting.status, b"retry-after: 2" in waiting.head) == (503, True)
    gate.open()
    assert {read(connection).body for connection in held} == {b"let go"}
    until(lambda: web.get("/seen").status == 200, what="a free thread")
