"""TLS is verified against the URL's name, whatever address the connection goes to."""

import ssl
from collections.abc import Callable

import pytest
import trustme

from config.http.client import HTTPClient
from config.http.transfer import Limits
from tests.config.http.receivers import Connection, Receiver, post, server_tls

StartReceiver = Callable[..., Receiver]
MakeSender = Callable[..., HTTPClient]


@pytest.fixture
def trusting(make_sender: MakeSender, ca_file: str) -> HTTPClient:
    """A sender that knows the receivers' authority."""
    return make_sender(limits=Limits(total_ms=60_000, connect_ms=40_000), ca_file=ca_file)


def test_the_name_is_what_is_verified_and_asked_for(
    start_receiver: StartReceiver, trusting: HTTPClient, authority: trustme.CA
) -> None:
    receiver = start_receiver(tls=server_tls(authority, "hooks.acme.io"))

    results = [post(trusting, receiver.vetted()) for _ in range(2)]

    assert [(result.status, result.error) for result in results] == [(204, None)] * 2
    assert receiver.server_names == ["hooks.acme.io"]
    assert receiver.requests[0].headers["host"] == f"hooks.acme.io:{receiver.port}"
    assert results[0].tls_ms is not None
    assert results[0].tls_ms > 0
    assert (results[1].reused, results[1].tls_ms) == (True, None)


def test_a_name_in_another_script_is_asked_for_in_ascii(
    start_receiver: StartReceiver, trusting: HTTPClient, authority: trustme.CA
) -> None:
    receiver = start_receiver(tls=server_tls(authority, "xn--bcher-kva.acme.io"))

    assert post(trusting, receiver.vetted("bücher.acme.io")).error is None
    assert receiver.server_names == ["xn--bcher-kva.acme.io"]


def test_an_address_needs_a_certificate_for_the_address(
    start_receiver: StartReceiver, trusting: HTTPClient, authority: trustme.CA
) -> None:
    fitting = start_receiver(tls=server_tls(authority, "127.0.0.1"))
    unfitting = start_receiver(tls=server_tls(authority, "hooks.acme.io"))

    assert post(trusting, fitting.vetted("127.0.0.1")).error is None
    assert post(trusting, unfitting.vetted("127.0.0.1")).error == "tls"


@pytest.mark.parametrize("name", ["other.acme.io", "acme.io", "*.hooks.acme.io"])
def test_a_certificate_for_another_name_is_refused(
    start_receiver: StartReceiver, trusting: HTTPClient, authority: trustme.CA, name: str
) -> None:
    receiver = start_receiver(tls=server_tls(authority, name))

    result = post(trusting, receiver.vetted())

    assert (result.status, result.error) == (None, "tls")
    assert receiver.requests == []


def test_a_certificate_of_an_unknown_authority_is_refused(start_receiver: StartReceiver, trusting: HTTPClient) -> None:
    receiver = start_receiver(tls=server_tls(trustme.CA(), "hooks.acme.io"))

    assert post(trusting, receiver.vetted()).error == "tls"
    assert receiver.requests == []


def test_by_default_only_public_authorities_are_known(
    start_receiver: StartReceiver, make_sender: MakeSender, authority: trustme.CA
) -> None:
    receiver = start_receiver(tls=server_tls(authority, "hooks.acme.io"))

    assert post(make_sender(), receiver.vetted()).error == "tls"
    assert receiver.requests == []


def test_a_connection_verified_for_one_name_serves_no_other(
    start_receiver: StartReceiver, trusting: HTTPClient, authority: trustme.CA
) -> None:
    receiver = start_receiver(tls=server_tls(authority, "a.acme.io"))

    assert post(trusting, receiver.vetted("a.acme.io")).error is None
    assert post(trusting, receiver.vetted("b.acme.io")).error == "tls"
    assert len(receiver.requests) == 1


def test_outdated_tls_is_refused(start_receiver: StartReceiver, trusting: HTTPClient, authority: trustme.CA) -> None:
    context = server_tls(authority, "hooks.acme.io")
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    receiver = start_receiver(tls=context)

    assert post(trusting, receiver.vetted()).error == "tls"


def test_a_receiver_without_tls_is_no_https_receiver(start_receiver: StartReceiver, trusting: HTTPClient) -> None:
    def greet(connection: Connection) -> None:
        connection.socket.recv(4096)
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    receiver = start_receiver(greet)

    result = post(trusting, receiver.vetted_for_tls())

    assert (result.status, result.error) == (None, "tls")


def test_a_handshake_that_hangs_ends_at_the_limit_for_connecting(
    start_receiver: StartReceiver, make_sender: MakeSender, ca_file: str
) -> None:
    receiver = start_receiver(lambda connection: connection.hang())
    sender = make_sender(limits=Limits(total_ms=3_600_000, connect_ms=400), ca_file=ca_file)

    result = post(sender, receiver.vetted_for_tls())

    assert (result.status, result.error) == (None, "connect_timeout")
    assert result.total_ms >= 390
    assert result.connect_ms is not None
    assert result.tls_ms is None
