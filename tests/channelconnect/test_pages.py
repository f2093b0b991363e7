"""The pages of the flow: what they say, what they keep to themselves, and what looking at them does not do."""

import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from django.test.utils import override_settings
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.ending import end_session
from config.logs import JSONFormatter, PlainFormatter
from tests import furnished
from tests.channelconnect.agencies import RETURN_URL, a_session, connection_events
from tests.channelconnect.customer import Customer, a_browser, link_of, outcome, path_of, state_in
from tests.factories import ChannelFactory
from tests.tenants import Tenant

pytestmark = pytest.mark.slow

a = furnished.a_with_customer

FIRST_NUMBER = "4010000"


def everything(session: ConnectSession) -> dict[str, Any]:
    """The session's row as it is stored."""
    return {**ConnectSession.objects.values().get(pk=session.pk)}


def let_time_pass(session: ConnectSession) -> None:
    ConnectSession.objects.filter(pk=session.pk).update(expires_at=now() - timedelta(seconds=1))


# The landing page -------------------------------------------------------------------------------------------


def test_the_landing_says_who_asks_for_what_and_where_the_browser_will_return(
    connecting: Tenant, customer: Customer
) -> None:
    page = customer.open(link_of(a_session(connecting, platform="instagram")))
    assert page.status_code == 200
    for shown in (
        connecting.agency.name,
        connecting.workspace.name,
        "Instagram",
        "Afterwards you return to app.example.com",
        RETURN_URL,
        "press Cancel",
    ):
        assert shown in customer.shown_text
    assert re.findall(r'<button class="button(?: primary)? full">(\w+)</button>', page.content.decode()) == [
        "Continue",
        "Cancel",
    ]


def test_a_reconnection_names_the_channel(connecting: Tenant, customer: Customer) -> None:
    channel = ChannelFactory.create(workspace=connecting.workspace, name="Front desk")
    customer.open(link_of(a_session(connecting, reconnect=channel.uuid)))
    assert f"Reconnects Front desk {channel.handle}" in customer.shown_text


def test_looking_consumes_nothing_however_often_and_by_whomever(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    link, before = link_of(session), everything(session)
    for number in range(4):
        purpose = {"Sec-Purpose": "prefetch;prerender"} if number % 2 else {"User-Agent": "WhatsApp/2.23 A"}
        assert a_browser().get(path_of(link), headers=purpose).status_code == 200
        head = a_browser().head(path_of(link))
        assert (head.status_code, head.content) == (200, b"")
    assert everything(session) == before
    customer.connect(session)
    assert outcome(session) == ("connected", None)


@pytest.mark.usefixtures("connecting")
def test_a_link_that_nobody_has_is_404() -> None:
    for link in ("x" * 43, "short", "x" * 44, "%00", "%ff", "..", "s/x", "a" * 10_000, ""):
        assert a_browser().get(f"/connect/{link}").status_code == 404, link
        assert a_browser().head(f"/connect/{link}").status_code == 404, link


def test_the_link_with_another_case_is_another_link(connecting: Tenant) -> None:
    link = link_of(a_session(connecting))
    assert a_browser().get(path_of(link.swapcase().replace("/CONNECT/", "/connect/"))).status_code == 404


def test_an_expired_link_says_so_even_before_the_sweep_and_changes_nothing(
    connecting: Tenant, customer: Customer
) -> None:
    session = a_session(connecting)
    link = link_of(session)
    let_time_pass(session)
    before = everything(session)
    customer.open(link)
    assert "The link has expired" in customer.shown_text
    assert not customer.actions()
    assert everything(session) == before


def test_a_browser_that_is_not_bound_is_led_nowhere_by_itself_and_told_no_state(
    connecting: Tenant, customer: Customer
) -> None:
    session = a_session(connecting, state="customer-4711")
    link = link_of(session)
    let_time_pass(session)
    page = customer.open(link)
    assert "Refresh" not in page.headers
    assert "customer-4711" not in page.content.decode()
    assert customer.return_link == f"{RETURN_URL}?connection_id={session.uuid}"
    bound = a_session(connecting, state="customer-4712")
    customer.open(link_of(bound))
    customer.press("/continue")
    let_time_pass(bound)
    page = customer.open(f"/connect/s/{bound.uuid}")
    assert "state=customer-4712" in page.headers["Refresh"]


@pytest.mark.parametrize("who", ["agency", "workspace"])
def test_the_landing_says_before_continue_that_nothing_can_be_connected(
    connecting: Tenant, customer: Customer, who: str
) -> None:
    session = a_session(connecting)
    link = link_of(session)
    suspended = getattr(connecting, who)
    type(suspended).objects.filter(pk=suspended.pk).update(status="suspended", suspended_at=now())
    before = everything(session)
    page = customer.open(link)
    assert page.status_code == 409
    assert "This account is suspended, so you cannot connect" in customer.shown_text
    assert not customer.actions()
    assert everything(session) == before
    type(suspended).objects.filter(pk=suspended.pk).update(status="active", suspended_at=None)
    customer.open(link)
    assert customer.press("/continue").status_code == 303


def test_a_cancelled_link_shows_the_outcome_with_the_way_back(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    link = link_of(session)
    end_session(session=session, status="cancelled", now=now(), by=SYSTEM)  # type: ignore[arg-type]  # its value
    customer.open(link)
    assert "Cancelled" in customer.shown_text
    assert customer.return_link == f"{RETURN_URL}?connection_id={session.uuid}"
    assert (customer.page.status_code, "Refresh" in customer.page.headers) == (200, False)


# Headers ----------------------------------------------------------------------------------------------------


def pages(connecting: Tenant, customer: Customer) -> Iterator[Any]:
    session = a_session(connecting)
    link = link_of(session)
    yield customer.open(link)
    continued = customer.press("/continue")
    yield continued
    yield a_browser().get(path_of(link))
    back = customer.consent(continued["Location"])
    yield a_browser().get(path_of(back))
    yield customer.browser.get(path_of(back))
    yield customer.open(f"/connect/s/{session.uuid}")
    yield customer.press("/choose", account="none")
    yield customer.select(FIRST_NUMBER)
    yield customer.connect(a_session(connecting), "refused")
    yield a_browser().get("/connect/" + "x" * 43)


def test_every_page_keeps_to_itself(connecting: Tenant, customer: Customer, meta: Any) -> None:
    statuses = []
    for page in pages(connecting, customer):
        statuses.append(page.status_code)
        assert page["Referrer-Policy"] == "no-referrer"
        assert page["Cache-Control"] == "no-store"
        assert page["X-Frame-Options"] == "DENY"
        assert page["X-Robots-Tag"] == "noindex, nofollow"
        assert page["X-Content-Type-Options"] == "nosniff"
        policy = page["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert f"form-action 'self' https: {meta.url};" in policy
        assert "script-src" not in policy
        assert "unsafe" not in policy
        body = page.content.decode()
        assert "<script" not in body
        assert " style=" not in body
        assert not re.findall(r'(?:src|href)="https?://(?!app\.example\.com)', body)
    assert statuses == [200, 303, 403, 403, 303, 200, 422, 303, 200, 404]


@pytest.mark.parametrize(
    ("dialog", "sources"),
    [
        ("https://www.facebook.com", "https://www.facebook.com https://*.facebook.com"),
        ("https://dialog.example.com", "https://dialog.example.com"),
    ],
)
def test_forms_may_lead_to_the_provider_and_its_siblings(
    connecting: Tenant, customer: Customer, dialog: str, sources: str
) -> None:
    with override_settings(META_DIALOG_URL=dialog):
        page = customer.open(link_of(a_session(connecting)))
    assert f"form-action 'self' https: {sources};" in page["Content-Security-Policy"]


def test_the_cookie_is_the_host_s_own_and_out_of_reach_of_scripts(connecting: Tenant, customer: Customer) -> None:
    customer.open(link_of(a_session(connecting)))
    for answer in (customer.page, customer.press("/continue")):
        cookie = answer.cookies["connect"]
        assert (cookie["httponly"], cookie["samesite"], cookie["domain"], cookie["path"]) == (True, "Lax", "", "/")
        assert re.fullmatch(r"[\w-]{43}", cookie.value)


def test_under_https_the_cookie_is_secure_and_bound_to_the_host_by_its_name(
    connecting: Tenant, customer: Customer
) -> None:
    with override_settings(CONNECT_COOKIE_NAME="__Host-connect", SESSION_COOKIE_SECURE=True):
        page = customer.open(link_of(a_session(connecting)))
        assert page.cookies["__Host-connect"]["secure"] is True


def test_neither_link_nor_code_nor_state_reaches_the_log(
    connecting: Tenant, customer: Customer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    session = a_session(connecting)
    link = link_of(session)
    customer.open(link)
    back = customer.consent(customer.press_continue(), "refused")
    customer.open(back)
    customer.select()
    logging.getLogger("django.request").error("Internal Server Error: %s", path_of(link))
    secrets = [
        link.rpartition("/")[2],
        *dict(parse_qsl(urlsplit(back).query)).values(),
        customer.browser.cookies["connect"].value,
    ]
    records = [record for record in caplog.records if record.name != "urllib3.connectionpool"]
    lines = "\n".join(form.format(record) for form in (JSONFormatter(), PlainFormatter()) for record in records)
    assert '"path": "/connect/' in lines
    assert "connect session failed" in lines
    assert [secret for secret in secrets if secret in lines] == []


# Forgery ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["continue", "cancel"])
def test_a_form_without_the_page_s_token_is_refused_and_changes_nothing(
    connecting: Tenant, customer: Customer, ending: str
) -> None:
    session = a_session(connecting)
    link = path_of(link_of(session))
    before = everything(session)
    foreign = a_browser()
    foreign.get(link)
    customer.open(link)
    token = foreign.cookies["csrf"].value
    for posted, headers in (
        ({}, {}),
        ({"csrfmiddlewaretoken": "x" * 64}, {}),
        ({"csrfmiddlewaretoken": token}, {"Origin": "null"}),
        ({"csrfmiddlewaretoken": token}, {"Origin": "https://evil.example"}),
    ):
        assert customer.browser.post(f"{link}/{ending}", posted, headers=headers).status_code == 403
    assert customer.browser.post(f"{link}/{ending}", "x", content_type="text/plain").status_code == 403
    assert everything(session) == before


def test_only_forms_change_things(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    link = path_of(link_of(session))
    customer.authorize(session)
    here = f"/connect/s/{session.uuid}"
    for path in (f"{link}/continue", f"{link}/cancel", f"{here}/continue", f"{here}/cancel", f"{here}/choose"):
        assert customer.browser.get(path).status_code == 405
    for path in (link, here):
        assert Client().post(path).status_code == 405


# The browser ------------------------------------------------------------------------------------------------


def test_another_browser_is_refused_with_a_reason_and_the_session_stays(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    link = link_of(session)
    other = Customer(customer.sandbox)
    other.open(link)
    customer.open(link)
    customer.press_continue()
    before = everything(session)
    assert other.press("/continue").status_code == other.press("/cancel").status_code == 403
    assert other.open(link).status_code == 403
    assert "another browser" in other.shown_text.lower()
    assert connecting.agency.name in other.shown_text
    assert other.open(f"/connect/s/{session.uuid}").status_code == 403
    assert everything(session) == before


def test_from_the_choice_on_another_browser_is_refused_too(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    before = everything(session)
    here = f"/connect/s/{session.uuid}"
    thief = Customer(customer.sandbox, page=customer.page)
    thief.open(link_of(a_session(connecting)))
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', thief.page.content.decode())
    assert token
    for ending in ("choose", "cancel", "continue"):
        answer = thief.browser.post(f"{here}/{ending}", {"csrfmiddlewaretoken": token[1], "account": FIRST_NUMBER})
        assert answer.status_code == 403
    assert everything(session) == before


def test_a_session_that_nobody_has_continued_has_no_clean_address(connecting: Tenant) -> None:
    session = a_session(connecting)
    assert a_browser().get(f"/connect/s/{session.uuid}").status_code == 404
    assert a_browser().get("/connect/s/x").status_code == 404


def test_the_bound_browser_may_reload_go_back_and_press_again(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    link = link_of(session)
    customer.open(link)
    first = customer.press_continue()
    customer.open(link)
    second = customer.press_continue()
    assert state_in(first) != state_in(second)
    # The tab that came first holds a state that counts no more: it finds the session as it is.
    customer.open(customer.consent(first))
    assert outcome(session)[0] == "authorizing"
    assert customer.actions() == [f"/connect/s/{session.uuid}/continue", f"/connect/s/{session.uuid}/cancel"]
    customer.open(customer.consent(second))
    assert len(customer.accounts()) == 2
    customer.open(link)
    assert len(customer.accounts()) == 2
    page = customer.page
    customer.select()
    customer.page = page
    back = f"{RETURN_URL}?connection_id={session.uuid}"
    assert customer.press("/choose", account=FIRST_NUMBER)["Location"] == back
    assert customer.press("/cancel")["Location"] == back
    customer.open(link)
    assert customer.return_link == back
    assert connection_events(connecting) == ["channel.connection.completed"]


def test_continue_pressed_on_an_old_page_finds_the_choice(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    old = customer.open(link_of(session))
    customer.authorize(session)
    before = everything(session)
    customer.page = old
    customer.follow(customer.press("/continue"))
    assert len(customer.accounts()) == 2
    here = customer.actions()[-1].removesuffix("cancel")
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', customer.page.content.decode())
    assert token
    answer = customer.browser.post(f"{here}continue", {"csrfmiddlewaretoken": token[1]})
    assert (answer.status_code, answer["Location"]) == (303, here.rstrip("/"))
    assert everything(session) == before


def test_a_double_click_without_a_cookie_yet_binds_one_browser(connecting: Tenant, customer: Customer) -> None:
    """Both clicks are sent with what the page had given: the second finds itself at home."""
    session = a_session(connecting)
    customer.open(link_of(session))
    kept = customer.browser.cookies.output()
    first, second = customer.press("/continue"), customer.press("/continue")
    assert (first.status_code, second.status_code) == (303, 303)
    assert customer.browser.cookies["connect"].value in kept
    customer.open(customer.consent(second["Location"]))
    assert customer.accounts()


def test_one_browser_can_have_several_sessions_at_once(connecting: Tenant, customer: Customer) -> None:
    first, second = a_session(connecting, platform="whatsapp"), a_session(connecting, platform="facebook")
    customer.open(link_of(first))
    one = customer.press_continue()
    customer.open(link_of(second))
    two = customer.press_continue()
    customer.open(customer.consent(one))
    customer.select()
    customer.open(customer.consent(two))
    customer.select()
    assert outcome(first) == outcome(second) == ("connected", None)
