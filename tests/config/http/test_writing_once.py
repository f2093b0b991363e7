"""What must not come twice is written once: what libcurl would do again by itself is refused."""

from collections.abc import Callable, Iterator

import pytest

from config.http.client import HTTPClient
from config.http.error_codes import CLOSED, REFUSED, WITHHELD
from config.http.transfer import Limits
from tests.config.http.receivers import NO_CONTENT, Connection, Receiver, post

StartReceiver = Callable[..., Receiver]


def hang_up_on_the_second(connection: Connection) -> None:
    """Answer the first request, take the second and hang up without a word."""
    for is_answered in (True, False):
        if (request := connection.read_request()) is None:
            return
        connection.receiver.requests.append(request)
        if is_answered:
            connection.send(NO_CONTENT)


@pytest.fixture
def careful() -> Iterator[HTTPClient]:
    sender = HTTPClient(limits=Limits(writes_once=True, idle_seconds=30))
    yield sender
    sender.close()


def test_a_kept_connection_that_ends_without_an_answer_is_not_tried_again(
    start_receiver: StartReceiver, careful: HTTPClient
) -> None:
    receiver = start_receiver(hang_up_on_the_second)

    first = post(careful, receiver.vetted())
    second = post(careful, receiver.vetted())

    assert (first.error, first.written) == (None, True)
    assert (second.error, second.status, second.written) == (CLOSED, None, True)
    assert len(receiver.requests) == 2


def test_without_the_limit_libcurl_sends_it_again(start_receiver: StartReceiver, sender: HTTPClient) -> None:
    receiver = start_receiver(hang_up_on_the_second)

    post(sender, receiver.vetted())
    post(sender, receiver.vetted())

    assert len(receiver.requests) == 3


def test_what_never_left_is_not_written(start_receiver: StartReceiver, careful: HTTPClient) -> None:
    receiver = start_receiver()
    way = receiver.vetted()
    receiver.close()

    result = post(careful, way)

    assert (result.error, result.written) == (REFUSED, False)


@pytest.mark.parametrize("is_kept", [False, True])
def test_what_may_not_be_written_any_more_is_withheld_at_the_last_moment(
    start_receiver: StartReceiver, make_sender: Callable[..., HTTPClient], *, is_kept: bool
) -> None:
    """Over a new connection or over one that was kept: the receiver gets nothing of it."""
    allowed = {"now": True}
    sender = make_sender(limits=Limits(writes_once=True), may_write=lambda: allowed["now"])
    receiver = start_receiver()
    before = [post(sender, receiver.vetted()).error] if is_kept else []
    allowed["now"] = False

    result = post(sender, receiver.vetted())

    assert (result.error, result.status, result.written) == (WITHHELD, None, False)
    allowed["now"] = True
    assert post(sender, receiver.vetted()).error is None
    assert before == [None] * is_kept
    assert len(receiver.requests) == is_kept + 1
