"""A test that reaches outside this machine fails; what stays here works."""

import socket
import socketserver
import threading
from collections.abc import Iterator

import pytest

from tools.local.network_guard import OutsideNetwork

OUTSIDE = "192.0.2.1"


@pytest.fixture
def port() -> Iterator[int]:
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_can_be_reached(port: int, host: str) -> None:
    socket.create_connection((host, port), timeout=60).close()


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_an_outside_address_cannot_be_connected_to(method: str) -> None:
    with socket.socket() as connection, pytest.raises(OutsideNetwork, match=OUTSIDE):
        getattr(connection, method)((OUTSIDE, 80))


def test_an_outside_ipv6_address_cannot_be_connected_to() -> None:
    with socket.socket(socket.AF_INET6) as connection, pytest.raises(OutsideNetwork):
        connection.connect(("2001:db8::1", 80))


def test_an_outside_address_in_ipv6_clothes_cannot_be_connected_to() -> None:
    with socket.socket(socket.AF_INET6) as connection, pytest.raises(OutsideNetwork):
        connection.connect((f"::ffff:{OUTSIDE}", 80))


def test_no_datagram_goes_outside() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as connection, pytest.raises(OutsideNetwork):
        connection.sendto(b"word", (OUTSIDE, 53))


@pytest.mark.parametrize("look_up", [lambda name: socket.getaddrinfo(name, 80), socket.gethostbyname])
def test_no_outside_name_is_looked_up(look_up: object) -> None:
    assert callable(look_up)
    with pytest.raises(OutsideNetwork, match=r"example\.com"):
        look_up("example.com")


def test_addresses_and_this_machine_s_own_names_are_no_look_ups() -> None:
    assert socket.getaddrinfo("192.0.2.1", 80)
    assert socket.getaddrinfo(b"127.0.0.1", 80)
    assert socket.getaddrinfo("localhost", 80)
    assert socket.getfqdn()
