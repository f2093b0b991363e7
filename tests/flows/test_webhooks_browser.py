"""In a real browser: an agency adds a webhook, tests it, rotates its secret, sends again, and removes it."""

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from agency.models import ActivityEntry
from tests.agency.console.browsers import a_member
from tests.config.http.receivers import Receiver, answer
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.flows.sessions import give_session
from tests.tenants import Tenant
from tests.waiting import until
from webhooks.models import Delivery, Endpoint

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
LONG_URL = "http://127.0.0.1:9009/" + "a-long-path-segment/" * 60 + "x" * 300
# The second click comes while the first request is under way: the browser shows the answer to the second only.
CLICK_TWICE = "button => { button.click(); setTimeout(() => button.click(), 15); }"
PHONE: ViewportSize = {"width": 360, "height": 740}
DESKTOP: ViewportSize = {"width": 1280, "height": 900}


@pytest.fixture(autouse=True)
def _reaches_this_machine(settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer, a: Tenant) -> Iterator[Open]:
    """Open browsers in which somebody of the agency has signed in; a page's complaints fail the story."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(address: str = "/console/webhooks", **options: Any) -> Page:
        contexts.append(browser.new_context(base_url=live_server.url, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        give_session(page.context, a_member(a.agency, "owner").user, live_server.url)
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    listening = Receiver(answer())
    yield listening
    listening.close()


def rotate_and_remove(page: Page, secret: str | None) -> None:
    """Get a new secret for the webhook of this page, and remove it."""
    page.get_by_role("link", name="Rotate secret").click()
    page.get_by_role("button", name="Rotate secret").click()
    expect(page.get_by_text("The old secret also stays valid until")).to_be_visible()
    assert page.locator(".secret code").inner_text() != secret
    page.get_by_role("link", name="I have kept it").click()

    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove webhook").click()
    expect(page.get_by_text("was removed.")).to_be_visible()


@pytest.mark.usefixtures("dispatcher")
def test_a_webhooks_life(open_page: Open, receiver: Receiver) -> None:
    page = open_page()
    page.get_by_role("main").get_by_role("link", name="Add webhook").first.click()
    page.get_by_label("URL").fill(f"http://127.0.0.1:{receiver.port}/in")
    page.get_by_label("Sub-account created (workspace.created)").check()
    page.get_by_role("button", name="Add webhook").click()
    first = page.locator(".secret code").inner_text()
    page.get_by_role("link", name="I have kept it").click()

    page.get_by_role("button", name="Send test").click()
    expect(page.get_by_role("heading", name="Attempt 1")).to_be_visible()
    page.get_by_role("button", name="Redeliver").click()
    until(lambda: len(receiver.requests) == 2, what="the second delivery")
    expect(page.get_by_role("heading", name="Attempt 1")).to_be_visible()

    page.get_by_role("navigation", name="Where this page is").get_by_role("link").last.click()
    rotate_and_remove(page, first)
    expect(page.get_by_role("row", name="workspace.created")).to_have_count(2)


def test_a_webhook_ends_without_a_script(open_page: Open, a: Tenant) -> None:
    """Its beginning without a script is among the tasks of `tests/flows/tasks`."""
    endpoint = an_endpoint(a)
    page = open_page(f"/console/webhooks/{endpoint.uuid}", java_script_enabled=False)
    rotate_and_remove(page, endpoint.secret)
    assert Endpoint.objects.get().removed_at


def test_a_double_click_counts_once_and_shows_the_secret(open_page: Open, a: Tenant) -> None:
    endpoint = an_endpoint(a)
    failed = a_failed_delivery(a, endpoint)
    page = open_page(f"/console/webhooks/{endpoint.uuid}/rotate")
    page.get_by_role("button", name="Rotate secret").evaluate(CLICK_TWICE)
    expect(page.get_by_text("The old secret also stays valid until")).to_be_visible()
    assert page.locator(".secret code").inner_text() == Endpoint.objects.get().secret
    assert ActivityEntry.objects.filter(action="webhook.secret_rotated").count() == 1

    page.goto(f"/console/webhooks/deliveries/{failed.uuid}")
    page.get_by_role("button", name="Redeliver").evaluate(CLICK_TWICE)
    expect(page.get_by_text("The event is being sent again.")).to_be_visible()
    assert Delivery.objects.filter(kind="redelivery").count() == 1


def height_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box
    return box["height"]


def test_a_long_url_leaves_the_list_readable(open_page: Open, a: Tenant) -> None:
    a_failed_delivery(a, an_endpoint(a, url=LONG_URL))
    page = open_page()
    rows, event = page.locator("tbody tr"), page.get_by_role("link", name="workspace.created")
    for viewport in (PHONE, DESKTOP):
        page.set_viewport_size(viewport)
        assert height_of(rows.first) < 260
        assert height_of(rows.last) < 260
        assert height_of(event) < 30, "an event's name stays on its line"
