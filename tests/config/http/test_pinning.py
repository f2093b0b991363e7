"""A request goes to an address that was checked, whatever the name says now and whatever is still connected."""

import time
from collections.abc import Callable
from typing import Any

import pycurl
import pytest

from config.http.client import HTTPClient
from config.http.guard import URLRefused, check_url
from config.http.transfer import Limits, Transfer
from tests.config.http.receivers import NO_CONTENT, Receiver, after_request, post, request_to

StartReceiver = Callable[..., Receiver]
CLOSING = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


@pytest.fixture
def two(start_receiver: StartReceiver) -> tuple[Receiver, Receiver]:
    """Receivers on one port of two addresses."""
    first = start_receiver(host="127.0.0.1")
    return first, start_receiver(host="127.0.0.2", port=first.port)


def test_a_name_that_turns_inward_is_refused_before_anything_is_sent(
    start_receiver: StartReceiver, sender: HTTPClient
) -> None:
    inside = start_receiver()
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    url = f"http://hooks.acme.io:{inside.port}/"

    assert check_url(url, resolve=lambda _host: next(answers)).addresses == ("93.184.216.34",)
    with pytest.raises(URLRefused):
        check_url(url, resolve=lambda _host: next(answers))
    assert inside.connections == []


def test_the_name_is_not_looked_up_again(two: tuple[Receiver, Receiver], sender: HTTPClient) -> None:
    """`localhost` resolves on every machine; a second look-up would lead to the first receiver."""
    first, second = two

    result = post(sender, first.vetted("localhost", "/", "127.0.0.2"))

    assert result.remote_address == "127.0.0.2"
    assert second.requests[0].headers["host"] == f"localhost:{first.port}"
    assert first.connections == []


def test_a_kept_connection_is_not_used_for_another_address(two: tuple[Receiver, Receiver], sender: HTTPClient) -> None:
    first, second = two
    way_to = {receiver: first.vetted("hooks.acme.io", "/", receiver.host) for receiver in two}

    order = [first, first, second, second, first, second]
    results = [post(sender, way_to[receiver]) for receiver in order]

    assert [result.remote_address for result in results] == [receiver.host for receiver in order]
    assert [result.reused for result in results] == [False, True, False, True, True, True]
    assert (len(first.requests), len(second.requests)) == (3, 3)


def test_a_kept_connection_is_used_by_its_own_name_only(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver()

    results = [post(sender, receiver.vetted(name)) for name in ("a.acme.io", "b.acme.io", "a.acme.io")]

    assert [result.reused for result in results] == [False, False, True]
    assert [request.headers["host"].partition(":")[0] for request in receiver.requests] == [
        "a.acme.io",
        "b.acme.io",
        "a.acme.io",
    ]


def test_another_vetted_address_is_tried_where_one_does_not_answer(
    start_receiver: StartReceiver, sender: HTTPClient
) -> None:
    receiver = start_receiver(host="127.0.0.2")
    vetted = receiver.vetted("hooks.acme.io", "/", "127.0.0.3", "127.0.0.2")

    results = [post(sender, vetted), post(sender, vetted)]

    assert [(result.error, result.remote_address) for result in results] == [(None, "127.0.0.2")] * 2
    assert [result.reused for result in results] == [False, True]


def test_the_order_of_the_answers_does_not_part_connections(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(host="127.0.0.2")

    for addresses in (("127.0.0.3", "127.0.0.2"), ("127.0.0.2", "127.0.0.3")):
        assert post(sender, receiver.vetted("hooks.acme.io", "/", *addresses)).error is None

    assert len(receiver.connections) == 1


def test_a_smaller_answer_does_not_inherit_a_connection(two: tuple[Receiver, Receiver], sender: HTTPClient) -> None:
    first, second = two

    post(sender, first.vetted("hooks.acme.io", "/", "127.0.0.1", "127.0.0.2"))
    result = post(sender, first.vetted("hooks.acme.io", "/", "127.0.0.2"))

    assert result.remote_address == "127.0.0.2"
    assert len(second.requests) == 1


def test_ipv6_works_like_ipv4(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    try:
        receiver = start_receiver(host="::1")
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")

    literal = post(sender, receiver.vetted("[::1]"))
    named = post(sender, receiver.vetted("hooks.acme.io"))

    assert [(result.error, result.remote_address) for result in (literal, named)] == [(None, "::1")] * 2
    assert receiver.requests[0].headers["host"] == f"[::1]:{receiver.port}"


class TestConnectedAddress:
    """What stops libcurl, should it ever be led to another address than the vetted ones."""

    def loaded(self, receiver: Receiver, vetted_address: str, opened: list[None]) -> Transfer:
        transfer = Transfer(Limits(total_ms=60_000), "/dev/null", lambda: opened.append(None), lambda: True)
        transfer.load(request_to(receiver.vetted("hooks.acme.io", "/", vetted_address)))
        return transfer

    def test_no_connection_is_opened_to_another_address(self, start_receiver: StartReceiver) -> None:
        receiver, opened = start_receiver(), list[None]()
        transfer = self.loaded(receiver, "127.0.0.2", opened)
        transfer.curl.setopt(pycurl.CONNECT_TO, ["::127.0.0.1:"])

        result = transfer.finish(_perform(transfer.curl))

        assert (result.status, result.error) == (None, "blocked_address")
        assert receiver.connections == []
        assert opened == []

    def test_nothing_is_sent_over_a_connection_to_another_address(self, start_receiver: StartReceiver) -> None:
        receiver = start_receiver(after_request(lambda connection: connection.send(NO_CONTENT)))
        transfer = self.loaded(receiver, "127.0.0.2", [])
        transfer.curl.setopt(pycurl.CONNECT_TO, ["::127.0.0.1:"])
        transfer.curl.unsetopt(pycurl.OPENSOCKETFUNCTION)

        result = transfer.finish(_perform(transfer.curl))

        assert (result.status, result.error) == (None, "blocked_address")
        assert receiver.requests == []

    def test_addresses_stay_pinned_after_libcurl_has_forgotten_them(self, start_receiver: StartReceiver) -> None:
        """They are held in its table of names for a limited time, and a handle is used for longer."""
        receiver = start_receiver(after_request(lambda connection: connection.send(CLOSING)))
        vetted = receiver.vetted("hooks.acme.io", "/", "127.0.0.3", "127.0.0.1")
        transfer = Transfer(Limits(total_ms=60_000), "/dev/null", lambda: None, lambda: True)
        transfer.curl.setopt(pycurl.DNS_CACHE_TIMEOUT, 1)

        transfer.load(request_to(vetted))
        first = transfer.finish(_perform(transfer.curl))
        time.sleep(1.1)
        transfer.load(request_to(vetted))
        second = transfer.finish(_perform(transfer.curl))

        assert (first.error, second.error) == (None, None)
        assert len(receiver.requests) == 2


def _perform(curl: Any) -> int:
    try:
        curl.perform()
    except pycurl.error as error:
        return int(error.args[0])
    return 0
