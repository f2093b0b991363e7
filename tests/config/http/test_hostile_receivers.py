"""Receivers that hang, drip, flood and lie cost no more than the limits."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from config.http.client import HTTPClient
from config.http.transfer import Limits
from tests.config.http.conftest import HURRIED
from tests.config.http.receivers import (
    Behaviour,
    Connection,
    Receiver,
    after_request,
    answer,
    post,
    post_all,
    request_to,
)

StartReceiver = Callable[..., Receiver]
OK = b"HTTP/1.1 200 OK\r\n"
BODY_LIMIT = 64 * 1024
# So many bytes drip for longer than any test waits.
ENDLESS = 30_000


def hang(connection: Connection) -> None:
    connection.hang()


def drip_head(connection: Connection) -> None:
    connection.send(OK)
    connection.drip(b"X-Drip: " + b"a" * ENDLESS, every_s=0.02)


def drip_body(connection: Connection) -> None:
    connection.send(OK + b"Content-Length: %d\r\n\r\n" % ENDLESS)
    connection.drip(b"a" * ENDLESS, every_s=0.02)


def drip_chunks(connection: Connection) -> None:
    connection.send(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    connection.drip(b"1\r\na\r\n" * (ENDLESS // 6), every_s=0.02)


def stop_reading(connection: Connection) -> None:
    connection.socket.recv(1)
    connection.hang()


def test_no_receiver_outlasts_the_limit(start_receiver: StartReceiver, hurried_sender: HTTPClient) -> None:
    ways: list[tuple[Behaviour, bytes, int | None]] = [
        (hang, b"", None),
        (stop_reading, b"a" * 10_000_000, None),
        (after_request(hang), b"{}", None),
        (after_request(drip_head), b"{}", 200),
        (after_request(drip_body), b"{}", 200),
        (after_request(drip_chunks), b"{}", 200),
    ]
    requests = [
        request_to(start_receiver(behaviour).vetted(), key=key, body=body)
        for key, (behaviour, body, _) in enumerate(ways)
    ]

    results = post_all(hurried_sender, requests)

    for key, (_, _, status) in enumerate(ways):
        assert (results[key].status, results[key].error) == (status, "timeout")
        assert results[key].total_ms >= HURRIED.total_ms - 10


def test_a_hanging_receiver_delays_no_other(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    hanging = start_receiver(after_request(hang))
    healthy = start_receiver()
    for key in range(100, 120):
        sender.submit(request_to(hanging.vetted(), key=key))

    ended: set[int] = set()
    for key in range(50):
        sender.submit(request_to(healthy.vetted(), key=key))
    while len(ended) < 50:
        ended.update(result.key for result in sender.poll(0.2))

    assert ended == set(range(50)), "those that hang end later"
    assert sender.in_flight == 20


def send_endlessly(head: bytes, data: bytes, most: int = 500_000_000) -> Behaviour:
    def behave(connection: Connection) -> None:
        connection.send(head)
        while connection.sent < most:
            connection.send(data)

    return after_request(behave)


@pytest.mark.parametrize(
    ("head", "data"),
    [
        (b"Content-Length: 500000000\r\n\r\n", b"a" * 65536),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"a" * 65536 + b"\r\n"),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 10_000),
        (b"\r\n", b"a" * 65536),
    ],
    ids=["announced length", "chunks", "tiny chunks", "no length"],
)
@pytest.mark.parametrize(("status", "error"), [(200, None), (500, "http_5xx")])
def test_an_answer_without_end_is_left_at_the_limit(
    start_receiver: StartReceiver, sender: HTTPClient, head: bytes, data: bytes, status: int, error: str | None
) -> None:
    receiver = start_receiver(send_endlessly(b"HTTP/1.1 %d X\r\n" % status + head, data))

    result = post(sender, receiver.vetted())

    assert (result.status, result.error, result.cut) == (status, error, True)
    assert len(result.response_body) == 2048
    receiver.close()
    # What the two kernels hold between them comes on top of what was read.
    assert receiver.connections[0].sent < 8_000_000


def test_an_answer_within_the_limit_is_read_to_its_end(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    body = b"a" * (BODY_LIMIT - 4096)
    receiver = start_receiver(answer(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body))

    first, second = post(sender, receiver.vetted()), post(sender, receiver.vetted())

    assert (first.error, first.cut, second.reused) == (None, False, True)
    assert first.response_body == b"a" * 2048


def test_the_framing_of_chunks_counts(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(
        answer(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 20_000 + b"0\r\n\r\n")
    )

    result = post(sender, receiver.vetted())

    assert (result.error, result.cut) == (None, True)


def test_a_head_without_end_is_a_failure(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(send_endlessly(OK, b"X-Flood: aaaaaaaaaaaaaaaa\r\n" * 1000))

    result = post(sender, receiver.vetted())

    assert (result.error, result.cut) == ("too_large", True)
    assert len(result.response_head) == 8192


def test_interim_answers_without_end_are_a_failure(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(send_endlessly(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000))

    result = post(sender, receiver.vetted())

    assert (result.status, result.error) == (None, "too_large")


def test_a_line_without_end_is_a_failure(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(send_endlessly(OK + b"X-Long: ", b"a" * 65536))

    result = post(sender, receiver.vetted())

    assert result.error not in (None, "timeout")


@pytest.mark.parametrize("field", [b"Content-Encoding", b"Transfer-Encoding"])
def test_a_compressed_answer_is_never_inflated(start_receiver: StartReceiver, sender: HTTPClient, field: bytes) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    receiver = start_receiver(
        after_request(lambda connection: connection.send(OK + field + b": gzip\r\nConnection: close\r\n\r\n" + bomb))
    )

    result = post(sender, receiver.vetted())

    assert result.status == 200
    assert result.response_body in (b"", bomb[:2048])
    assert result.error != "timeout"


@pytest.mark.parametrize(
    "location",
    ["http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:{port}/other", "/other", "file:///etc/passwd"],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_not_followed(
    start_receiver: StartReceiver, sender: HTTPClient, status: int, location: str
) -> None:
    receiver = start_receiver()
    where = location.format(port=receiver.port).encode()
    redirecting = start_receiver(
        answer(b"HTTP/1.1 %d X\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (status, where))
    )

    result = post(sender, redirecting.vetted())

    assert (result.status, result.error) == (status, "http_3xx")
    assert len(redirecting.requests) == 1
    assert receiver.connections == []


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "closed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "closed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "closed"),
        (b"220 mail.acme.io ESMTP\r\n", "invalid_answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "invalid_answer"),
        (b"\x15\x03\x01\x00\x02\x02\x16", "invalid_answer"),
        (b"hello", "invalid_answer"),
    ],
)
def test_an_answer_that_is_none_is_a_failure(
    start_receiver: StartReceiver, sender: HTTPClient, data: bytes, error: str
) -> None:
    receiver = start_receiver(after_request(lambda connection: connection.send(data)))

    result = post(sender, receiver.vetted())

    assert result.error == error


@pytest.mark.parametrize("status", [200, 204, 500])
@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"transfer-encoding: chunked\r\nX-Between: 1\r\ncontent-length: 5\r\n",
        b"Content-Length: 0\r\nTransfer-Encoding: identity\r\n",
        b"Content-Length: 5\r\nHTTP/1.1: 1\r\nTransfer-Encoding: chunked\r\n",
    ],
)
def test_an_answer_that_says_its_length_in_two_ways_is_no_acknowledgement(
    start_receiver: StartReceiver, sender: HTTPClient, status: int, framing: bytes
) -> None:
    data = b"HTTP/1.1 %d Reason\r\n%b\r\n5\r\nhello\r\n0\r\n\r\n" % (status, framing)
    receiver = start_receiver(answer(data))

    results = [post(sender, receiver.vetted()) for _ in range(2)]

    assert {(result.status, result.error) for result in results} == {(status, "invalid_answer")}
    assert len(receiver.connections) == 2, "such a connection is not used again"


def test_interim_answers_have_a_head_of_their_own(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n"
    receiver = start_receiver(answer(interim + OK + b"Content-Length: 2\r\n\r\nok"))

    result = post(sender, receiver.vetted())

    assert (result.status, result.error, result.response_body) == (200, None, b"ok")


def test_binary_answers_become_text_that_a_database_takes(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    body = b"a\0b\xff\xfe\xed\xa0\x80\xc3\xa9"
    receiver = start_receiver(answer(OK + b"X-Odd: \xff\xe9\r\nContent-Length: %d\r\n\r\n" % len(body) + body))

    result = post(sender, receiver.vetted())

    assert result.error is None
    assert result.response_body == body
    assert result.response_text == "a\ufffdb\ufffd\ufffd\ufffd\ufffd\ufffdé"
    assert result.response_headers[0] == ("X-Odd", "\ufffd\ufffd")


def test_no_cookie_is_kept(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(answer(b"HTTP/1.1 204 X\r\nSet-Cookie: session=1; Path=/\r\n\r\n"))

    for _ in range(3):
        post(sender, receiver.vetted())

    assert len(receiver.requests) == 3
    assert all("cookie" not in request.headers for request in receiver.requests)


def test_a_challenge_is_not_met(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    challenge = b"HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"
    receiver = start_receiver(answer(challenge))

    assert post(sender, receiver.vetted()).error == "http_4xx"
    assert len(receiver.requests) == 1
    assert "authorization" not in receiver.requests[0].headers


def test_proxies_and_credentials_of_the_environment_are_ignored(
    start_receiver: StartReceiver, sender: HTTPClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    proxy, receiver = start_receiver(), start_receiver()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    netrc = "machine hooks.acme.io login somebody password secret\ndefault login x password y\n"
    (tmp_path / ".netrc").write_text(netrc, encoding="ascii")

    result = post(sender, receiver.vetted())

    assert result.error is None
    assert proxy.connections == []
    assert "authorization" not in receiver.requests[0].headers


def test_the_same_receiver_recovers_after_misbehaving(
    start_receiver: StartReceiver, make_sender: Callable[..., HTTPClient]
) -> None:
    """The first attempt begins with all of its time but half a second used up.

    Its request may come later than the second one's.
    """
    sender = make_sender(limits=Limits(total_ms=60_000, connect_ms=59_900))

    def behave(connection: Connection) -> None:
        if (request := connection.read_request()) is not None:
            drip_body(connection) if " /dripping " in request.line else connection.send(b"HTTP/1.1 204 X\r\n\r\n")

    receiver = start_receiver(behave)

    attempts = [("/dripping", 59_500.0), ("/", 0.0)]
    errors = [post(sender, receiver.vetted(path=path), dns_ms=spent).error for path, spent in attempts]

    assert errors == ["timeout", None]


@pytest.mark.parametrize(
    ("sent", "status", "error"),
    [
        (OK, 200, "closed"),
        (OK + b"Content-Length: 0\r\n", 200, "closed"),
        (OK + b"X-Half: of a li", 200, "closed"),
        (OK + b"X-Long: " + b"a" * 2_000_000 + b"\r\n\r\n", 200, "too_large"),
        (b"HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n", 999, "invalid_answer"),
    ],
    ids=["status line", "fields", "half a field", "a field without end", "no such status"],
)
def test_an_answer_that_is_none_acknowledges_nothing(
    start_receiver: StartReceiver, sender: HTTPClient, sent: bytes, status: int | None, error: str
) -> None:
    result = post(sender, start_receiver(after_request(lambda connection: connection.send(sent))).vetted())
    assert (result.status, result.error) == (status, error)
