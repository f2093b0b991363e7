"""Tracked links as the real web server answers them: from its memory, with clicks written down together."""

import http.client
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Click, Recipient
from broadcasts.services.tracked_links import tracked_link
from config.serving.application import AFTERWARDS_SECONDS
from tests.broadcasts.under_way import a_broadcast, a_recipient
from tests.config.serving.web import Web, running_web
from tests.processes import own_processes
from tests.waiting import until, wait_for_lock

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PHONE = {"User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1"}
SALE = "https://shop.example/sale"
Answer = tuple[int, dict[str, str]]
Ask = Callable[..., Answer]


@pytest.fixture(scope="module")
def running(django_db_setup: None) -> Iterator[Callable[[], Web]]:
    """Give the server for all tests, or another one after a test that has stopped it.

    Each test has a broadcast of its own, which the server has not met before.
    """
    started: list[Web] = []
    with ExitStack() as stack:

        def web() -> Web:
            if not started or started[-1].process.poll() is not None:
                variables = {**own_processes.variables(), "SSL_REDIRECT": "off"}
                started.append(stack.enter_context(running_web("config.asgi:application", variables)))
            return started[-1]

        yield web


@pytest.fixture
def web(running: Callable[[], Web]) -> Web:
    return running()


@pytest.fixture
def broadcast() -> Broadcast:
    links = [SALE, "https://shop.example/?for={{contact.name}}"]
    return a_broadcast(frozen=FrozenMessage(text="{{link.0}}", variables=["contact.name"], links=links))


@pytest.fixture
def ask(web: Web) -> Ask:
    """Give what asks a server, each time over a connection of its own: the server closes one that is idle for long."""

    def ask(path: str, method: str = "GET", **headers: str) -> Answer:
        sent = PHONE | {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)) as connection:
            connection.request(method, path, headers=sent)
            answer = connection.getresponse()
            answer.read()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}

    return ask


def path_of(recipient: Recipient, number: int = 0) -> str:
    return tracked_link("", recipient.broadcast_id, recipient.contact_id, number)


def is_from_memory(headers: dict[str, str]) -> bool:
    """Django gives every answer a type, the event loop none to one without a body."""
    return "content-type" not in headers


def wait_for_clicks(number: int) -> list[int]:
    until(lambda: Click.objects.count() >= number, what=f"{number} clicks")
    return sorted(Click.objects.values_list("contact_id", flat=True))


def test_what_memory_does_not_tell_goes_the_usual_way(ask: Ask, broadcast: Broadcast) -> None:
    recipient, last = a_recipient(broadcast, ["Ada"]), a_recipient(broadcast, ["Bo"])
    path = path_of(recipient)
    ask(path)
    wait_for_clicks(1)

    assert ask(path_of(recipient, 1))[1]["location"] == "https://shop.example/?for=Ada"
    wait_for_clicks(2)
    assert [ask(path, Host="other.example")[0], ask(f"{path}x")[0], ask(path, method="POST")[0]] == [404, 404, 405]
    assert ask(path, User_Agent="WhatsApp/2.23.20.0 A")[0] == 302
    assert ask(path, method="HEAD")[1]["location"] == SALE
    ask(path_of(last))  # what counted before it would be written down by the time that it is
    assert wait_for_clicks(3) == [recipient.contact_id, recipient.contact_id, last.contact_id]


def test_a_slow_database_holds_one_thread_and_loses_no_click(ask: Ask, broadcast: Broadcast) -> None:
    recipients = [a_recipient(broadcast, ["Ada"]) for _ in range(5)]
    ask(path_of(recipients[0]))
    wait_for_clicks(1)
    with psycopg.connect(own_processes.database_url(), autocommit=True) as other, other.transaction():
        other.execute("LOCK TABLE broadcasts_click IN EXCLUSIVE MODE")
        for recipient in recipients[1:]:
            assert ask(path_of(recipient))[0] == 302
            wait_for_lock("relation")
            time.sleep(2 * AFTERWARDS_SECONDS)  # what is done after this answer is begun by now
        [held] = wait_for_lock("relation")
        other.execute("SELECT pg_terminate_backend(%s)", [held])
    assert wait_for_clicks(5) == sorted(one.contact_id for one in recipients)


def test_links_are_followed_from_memory_and_each_click_is_kept_though_the_server_is_stopped_at_once(
    web: Web, ask: Ask, broadcast: Broadcast
) -> None:
    recipients = [a_recipient(broadcast, ["Ada"]) for _ in range(20)]
    first = ask(path_of(recipients[0]))
    others = [ask(path_of(one), X_Request_Id=f"click-{one.contact_id}") for one in recipients[1:]]
    web.process.terminate()
    web.process.wait(60)

    assert [(status, headers["location"]) for status, headers in [first, *others]] == [(302, SALE)] * 20
    assert not is_from_memory(first[1])
    assert all(is_from_memory(headers) for _, headers in others)
    assert [headers["x-request-id"] for _, headers in others] == [f"click-{one.contact_id}" for one in recipients[1:]]
    assert {(headers["cache-control"], headers["referrer-policy"]) for _, headers in others} == {
        ("no-store", "no-referrer")
    }
    assert sorted(Click.objects.values_list("contact_id", flat=True)) == sorted(one.contact_id for one in recipients)
