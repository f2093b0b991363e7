"""Customers connect channels in a real browser: with a mouse, on a phone, without any script."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urldefrag, urlsplit

import pytest
from django.utils.timezone import now
from playwright.sync_api import Browser, BrowserContext, Page, expect

from agency.actors import SYSTEM
from agency.services import change_agency, set_accent, set_picture
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.ending import connect_url
from tests.channelconnect.agencies import a_session, connection_events, switch_on
from tests.channelconnect.customer import outcome
from tests.flows.agency_site import expect_return
from tests.flows.every_page.checks import OPTIONS, examine
from tests.flows.every_page.extremes import ENDLESS, RIGHT_TO_LEFT
from tests.images.pictures import a_picture
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel, Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
# The wrong browser's page answers 403, which browsers log.
A_REFUSAL = "status of 403"


@pytest.fixture
def open_browser(browser: Browser, sandbox: RunningSandbox) -> Iterator[Open]:
    """Open browsers; whatever a page complains about fails the story."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(**options: Any) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [complaint for complaint in complaints if A_REFUSAL not in complaint] == []


@pytest.fixture
def connecting(transactional_db: None) -> Tenant:
    return switch_on(Tenant())


def link_of(session: ConnectSession) -> str:
    url = connect_url(session, now=now())
    assert url
    return url


def to_the_provider(page: Page, session: ConnectSession, person: str = "ann") -> None:
    """Open the link, press Continue, and say at the provider who one is."""
    page.goto(link_of(session))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Who are you?")
    page.get_by_role("link", name=person, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Allow access?")


def approve(page: Page) -> None:
    page.get_by_role("button", name="Continue").click()


def title(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def connect(page: Page, session: ConnectSession) -> str:
    """Walk the whole way; gives the address at which the account was chosen."""
    to_the_provider(page, session)
    approve(page)
    title(page, "Choose the account")
    here = page.url
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Connect").click()
    expect_return(page)
    return here


def leads_back(page: Page, address: str) -> None:
    """The browser that finished is led back from this address, too."""
    with page.expect_response(urldefrag(address).url) as redirect:
        page.goto(address)
    assert redirect.value.status == 303
    expect_return(page)


def test_a_customer_approves_chooses_and_comes_back(open_browser: Open, connecting: Tenant) -> None:
    session, page = a_session(connecting, state="ü &=#"), open_browser()
    here = connect(page, session)
    assert parse_qs(urlsplit(page.url).query) == {"connection_id": [str(session.uuid)], "state": ["ü &=#"]}
    assert outcome(session) == ("connected", None)
    assert connection_events(connecting) == ["channel.connection.completed"]
    leads_back(page, here)
    assert Channel.objects.count() == 1


def test_a_customer_declines_at_the_provider(open_browser: Open, connecting: Tenant) -> None:
    session, page = a_session(connecting), open_browser()
    to_the_provider(page, session)
    page.get_by_role("button", name="Cancel").click()
    expect_return(page)
    assert outcome(session) == ("cancelled", "authorization_not_completed")


def test_a_customer_cancels_on_our_page(open_browser: Open, connecting: Tenant) -> None:
    session, page = a_session(connecting), open_browser()
    page.goto(link_of(session))
    page.get_by_role("button", name="Cancel").click()
    expect_return(page)
    assert outcome(session) == ("cancelled", "authorization_not_completed")


def test_a_customer_unticks_a_permission_that_messages_need(open_browser: Open, connecting: Tenant) -> None:
    session, page = a_session(connecting, platform="facebook"), open_browser()
    to_the_provider(page, session)
    page.get_by_label("pages_messaging", exact=True).uncheck()
    approve(page)
    title(page, "A permission is missing")
    assert outcome(session) == ("failed", "required_permissions_missing")
    expect(page.get_by_role("link", name="Back to app.example.com")).to_be_visible()


def test_another_browser_cannot_take_the_session_over(open_browser: Open, connecting: Tenant) -> None:
    session, first, second = a_session(connecting), open_browser(), open_browser()
    link = link_of(session)
    second.goto(link)
    first.goto(link)
    first.get_by_role("button", name="Continue").click()
    second.get_by_role("button", name="Continue").click()
    title(second, "Open in another browser")
    second.goto(link)
    title(second, "Open in another browser")
    first.get_by_role("link", name="ann", exact=True).click()
    approve(first)
    first.get_by_role("radio").first.check()
    first.get_by_role("button", name="Connect").click()
    expect_return(first)


def test_a_session_expires_under_the_customer_s_hands(open_browser: Open, connecting: Tenant) -> None:
    session, page = a_session(connecting), open_browser()
    to_the_provider(page, session)
    ConnectSession.objects.filter(pk=session.pk).update(expires_at=now() - timedelta(seconds=1))
    approve(page)
    title(page, "The link has expired")
    assert outcome(session) == ("expired", "session_expired")


def test_a_channel_in_error_is_reconnected_and_keeps_its_id(open_browser: Open, connecting: Tenant) -> None:
    page = open_browser()
    connect(page, a_session(connecting))
    channel = Channel.objects.get()
    Channel.objects.update(status="error")
    again = a_session(connecting, reconnect=channel.uuid)
    to_the_provider(page, again)
    approve(page)
    expect(page.get_by_text(f"Choose {channel.name} ({channel.handle}) again")).to_be_visible()
    expect(page.get_by_role("radio").first).to_be_checked()
    page.get_by_role("button", name="Connect").click()
    expect_return(page)
    assert outcome(again) == ("connected", None)
    assert again.channel == channel
    assert Channel.objects.get().status == "active"


def test_back_double_clicks_and_two_tabs_do_no_harm(open_browser: Open, connecting: Tenant) -> None:
    session, page = a_session(connecting), open_browser()
    page.goto(link_of(session))
    page.get_by_role("button", name="Continue").dblclick()
    title(page, "Who are you?")
    page.go_back()
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.get_by_role("button", name="Continue").click()
    page.reload()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="ann", exact=True).click()
    approve(page)
    tab.get_by_role("link", name="ann", exact=True).click()
    approve(tab)
    for one in (page, tab):
        title(one, "Choose the account")
        one.get_by_role("radio").first.check()
    here = page.url
    page.get_by_role("button", name="Connect").dblclick()
    expect_return(page)
    tab.get_by_role("button", name="Connect").click()
    expect_return(tab)
    leads_back(tab, here)
    assert Channel.objects.count() == 1
    assert connection_events(connecting) == ["channel.connection.completed"]


def test_nothing_needs_a_script(open_browser: Open, connecting: Tenant) -> None:
    session, page = a_session(connecting, platform="facebook"), open_browser(java_script_enabled=False)
    to_the_provider(page, session, "many")
    approve(page)
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("26-50 of 500")).to_be_visible()
    page.get_by_role("searchbox", name="Search").fill("page 500")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("radio").check()
    page.get_by_role("button", name="Connect").click()
    expect_return(page)
    assert outcome(session) == ("connected", None)


def test_every_page_fits_every_window_and_both_themes(
    open_browser: Open, connecting: Tenant, sandbox: RunningSandbox
) -> None:
    set_accent(agency=connecting.agency, accent="#ffcc00", by=SYSTEM)
    set_picture(agency=connecting.agency, kind="logo", file=a_picture(480, 100), by=SYSTEM)
    change_agency(agency=connecting.agency, name=ENDLESS, max_sub_accounts=None, by=SYSTEM)
    Workspace.objects.filter(pk=connecting.workspace.pk).update(name=RIGHT_TO_LEFT)
    session, page = a_session(connecting, platform="facebook"), open_browser(**OPTIONS)
    page.goto(link_of(session))
    assert examine(page) == []
    assert page.evaluate("getComputedStyle(document.querySelector('.primary')).backgroundColor") == "rgb(255, 204, 0)"
    heights = [button.bounding_box() for button in page.get_by_role("button").all()]
    assert len({(box["width"], box["height"]) for box in heights if box}) == 1
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="many", exact=True).click()
    approve(page)
    title(page, "Choose the account")
    assert examine(page) == []
    page.get_by_role("radio").first.check()
    sandbox.play(faults=[{"call": "subscribe", "fault": "permission_missing"}])
    page.get_by_role("button", name="Connect").click()
    title(page, "Could not receive messages")
    assert examine(page) == []
    page.context.clear_cookies()
    page.reload()
    title(page, "Open in another browser")
    assert examine(page) == []
