"""Alerts on a device in a real browser: the button, the service worker, and what a click opens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.models import PushSubscription
from agency.tasks import send_pushes
from tests.agency.console.browsers import a_member
from tests.fakes.push_service import PushService, push_service
from tests.flows.sessions import give_session
from tests.tenants import Tenant
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# A browser without a network has no push service, and without a screen it allows no alerts: both are played.
SUBSCRIBED = """given => {
    Object.defineProperty(Notification, "permission", { get: () => "default" });
    Notification.requestPermission = async () => "granted";
    PushManager.prototype.subscribe = async options => {
        if (!options.userVisibleOnly || !options.applicationServerKey) throw new Error("refused");
        return { toJSON: () => ({ endpoint: given.endpoint, keys: { p256dh: given.p256dh, auth: given.auth } }) };
    };
}"""
SCREEN = """() => {
    self.shown = {};
    self.opened = [];
    self.registration.showNotification = async (title, options) => { self.shown[options.tag] = { title, ...options }; };
    self.navigator.setAppBadge = async () => { self.isBadged = true; };
    self.clients.openWindow = async address => { self.opened.push(address); };
}"""
CLICK = """async path => {
    const click = new ExtendableEvent("notificationclick"), work = [];
    Object.defineProperties(click, {
        notification: { value: { close() {}, data: { path } } },
        waitUntil: { value: one => work.push(one) },
    });
    self.dispatchEvent(click);
    await Promise.all(work);
    return self.opened.pop();
}"""
SHOWN = """async body => {
    while (self.shown.test?.body !== body) await new Promise(next => setTimeout(next, 20));
    return self.shown;
}"""
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)"
# Each takes something from the page's browser, and says what the page says then.
LACKS = (
    ("delete window.PushManager", "This browser cannot show alerts."),
    (
        "Object.defineProperty(Notification, 'permission', { get: () => 'denied' })",
        "Your browser does not allow alerts from this page.",
    ),
    (
        f"delete window.PushManager; Object.defineProperty(navigator, 'userAgent', {{ get: () => '{IPHONE}' }})",
        "Add to Home Screen",
    ),
)


@pytest.fixture
def service(settings: Any, tmp_path: Path) -> Iterator[PushService]:
    with push_service(settings, tmp_path) as running:
        yield running


@pytest.fixture
def context(browser: Browser, live_server: LiveServer, settings: Any) -> Iterator[BrowserContext]:
    settings.PUBLIC_URL = live_server.url
    opened = browser.new_context(base_url=live_server.url)
    opened.grant_permissions(["notifications"], origin=live_server.url)
    give_session(opened, a_member(Tenant().agency, "owner").user, live_server.url)
    yield opened
    opened.close()


def deliver(page: Page, origin: str, *alerts: dict[str, Any]) -> None:
    """Give alerts to the page's service worker, as the browser's push service does."""
    registrations: list[str] = []
    tools = page.context.new_cdp_session(page)
    tools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(one["registrationId"] for one in event["registrations"]),
    )
    tools.send("ServiceWorker.enable")
    until(lambda: page.evaluate("true") and bool(registrations), 60)
    for alert in alerts:
        what = {"origin": origin, "registrationId": registrations[-1], "data": json.dumps(alert)}
        tools.send("ServiceWorker.deliverPushMessage", what)
    tools.detach()


def test_a_device_shows_what_comes_as_one_alert_of_a_topic_and_a_click_opens_only_our_pages(
    context: BrowserContext, live_server: LiveServer, service: PushService
) -> None:
    page = context.new_page()
    page.add_init_script(f"({SUBSCRIBED})({json.dumps(service.subscription())})")
    page.goto("/account/alerts")
    page.get_by_role("button", name="Show alerts on this device").click()
    expect(page.get_by_text("This device shows your alerts now.")).to_be_visible()
    assert PushSubscription.objects.get().p256dh == service.subscription()["p256dh"]
    page.get_by_role("button", name="Send a test alert").click()
    expect(page.get_by_text("A test alert is on its way to 1 device.")).to_be_visible()
    send_pushes()
    [alert] = service.alerts
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    [worker] = context.service_workers
    worker.evaluate(SCREEN)
    deliver(page, live_server.url, alert, {**alert, "body": "Another"})
    shown = worker.evaluate(SHOWN, "Another")
    assert list(shown) == ["test"]
    assert shown["test"]["title"] == "Test alert"
    assert shown["test"]["data"] == {"path": "/account/alerts"}
    assert worker.evaluate("self.isBadged")
    assert worker.evaluate(CLICK, "/app/inbox") == f"{live_server.url}/app/inbox"
    for elsewhere in ("https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"):
        assert worker.evaluate(CLICK, elsewhere) == live_server.url


def test_a_browser_that_can_show_none_says_why(context: BrowserContext) -> None:
    for lacking, said in LACKS:
        page = context.new_page()
        page.add_init_script(lacking)
        page.goto("/account/alerts")
        expect(page.locator("[data-alerts-said]")).to_contain_text(said)
        expect(page.get_by_role("button", name="Show alerts on this device")).to_be_hidden()
        page.close()
