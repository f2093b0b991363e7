"""The choice of an account, the way back to the agency, and the agency's looks."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import restore_agency, set_accent, set_picture, suspend_agency
from channelconnect.models import ConnectSession
from channelconnect.services.settings import set_return_urls
from tests import furnished
from tests.agency.console.browsers import hidden, text
from tests.channelconnect.agencies import RETURN_URL, a_session, connection_events
from tests.channelconnect.customer import Customer, a_browser, link_of, outcome
from tests.images.pictures import a_picture, size_of
from tests.tenants import Tenant
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.slow

a = furnished.a_with_customer

FIRST_NUMBER = "4010000"
BROWSING = {"Sec-Fetch-Mode": "navigate"}


def everything(session: ConnectSession) -> dict[str, Any]:
    """The session's row as it is stored."""
    return {**ConnectSession.objects.values().get(pk=session.pk)}


def let_time_pass(session: ConnectSession) -> None:
    ConnectSession.objects.filter(pk=session.pk).update(expires_at=now() - timedelta(seconds=1))


# The choice -------------------------------------------------------------------------------------------------


def test_many_accounts_come_in_pages_and_are_found_by_name_and_id_without_a_script(
    connecting: Tenant, customer: Customer
) -> None:
    session = a_session(connecting, platform="facebook")
    customer.authorize(session, "many")
    here = f"/connect/s/{session.uuid}"
    first, second, *rest = customer.accounts()
    assert len(rest) == 23
    assert "1-25 of 500" in customer.shown_text
    assert f"ID {first}" in customer.shown_text
    assert f'href="{here}?page=2"' in customer.page.content.decode()
    customer.open(f"{here}?page=20")
    assert "476-500 of 500" in customer.shown_text
    customer.open(f"{here}?search=PAGE+49")
    assert "11 accounts found" in customer.shown_text
    customer.open(f"{here}?search={second}")
    assert customer.accounts() == [second]
    customer.open(f"{here}?search=zzz")
    assert "No account matches." in customer.shown_text
    customer.open(f"{here}?search=%00%3Cscript%3E&page=%2D1")
    assert b"<script" not in customer.page.content
    customer.open(f"{here}?search=Page+500")
    [account] = customer.accounts()
    customer.select(account)
    assert outcome(session) == ("connected", None)


def test_a_number_is_found_by_its_digits(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.authorize(session, "many")
    customer.open(f"/connect/s/{session.uuid}?search=050-0499")
    assert len(customer.accounts()) == 1


def test_only_a_listed_account_can_be_chosen(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    for chosen in ("", "4990000", "x" * 5_000, "' OR 1=1 --"):
        answer = customer.press("/choose", account=chosen)
        assert answer.status_code == 422
        assert "Choose one of the accounts." in text(answer)
        assert outcome(session)[0] == "selecting"
        customer.page = answer
    customer.select()
    assert outcome(session) == ("connected", None)


def test_a_choice_of_account_that_is_refused_is_shown_by_get_until_one_is_made(
    connecting: Tenant, customer: Customer
) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    accounts, token = customer.accounts(), hidden(customer.page, "csrfmiddlewaretoken")
    here, choose = f"/connect/s/{session.uuid}", f"/connect/s/{session.uuid}/choose"
    led = customer.browser.post(choose, {"csrfmiddlewaretoken": token, "account": "typed"}, headers=BROWSING)
    assert led.status_code == 303
    assert led["Location"].startswith(f"{here}?form=")
    page = customer.browser.get(led["Location"], headers=BROWSING)
    assert (page.status_code, "Choose one of the accounts." in text(page)) == (200, True)
    assert page["Content-Security-Policy"] == customer.page["Content-Security-Policy"]
    assert "Choose one of the accounts." not in text(customer.browser.get(here, headers=BROWSING))
    customer.page = page
    customer.select(accounts[0])
    assert "Choose one of the accounts." not in text(customer.browser.get(led["Location"], headers=BROWSING))


def test_a_choice_that_was_refused_is_not_shown_past_the_time(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    fields = {"csrfmiddlewaretoken": hidden(customer.page, "csrfmiddlewaretoken"), "account": "typed"}
    led = customer.browser.post(f"/connect/s/{session.uuid}/choose", fields, headers=BROWSING)
    let_time_pass(session)
    page = customer.browser.get(led["Location"], headers=BROWSING)
    assert (page.status_code, "Choose one of the accounts." in text(page)) == (200, False)


def test_a_choice_past_the_time_expires_the_session(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    let_time_pass(session)
    customer.select()
    assert "The link has expired" in customer.shown_text
    assert outcome(session) == ("expired", "session_expired")
    assert connection_events(connecting) == ["channel.connection.expired"]


def test_what_was_granted_is_forgotten_with_the_session_s_end(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    assert everything(session)["grant"]
    customer.select()
    assert everything(session)["grant"] is None


# Suspension -------------------------------------------------------------------------------------------------


def test_nothing_goes_on_while_agency_or_sub_account_are_suspended(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.open(link_of(session))
    suspend_agency(agency=connecting.agency, reason="", now=now(), by=SYSTEM)
    answer = customer.press("/continue")
    assert (answer.status_code, "suspended" in text(answer)) == (409, True)
    restore_agency(agency=connecting.agency, by=SYSTEM)
    customer.open(customer.consent(customer.press_continue()))
    suspend_workspace(workspace=connecting.workspace, now=now(), by=SYSTEM)
    assert customer.press("/choose", account=FIRST_NUMBER).status_code == 409
    assert outcome(session)[0] == "selecting"


# The way back -----------------------------------------------------------------------------------------------


STATES = [
    "plain",
    "",
    "a b+c",
    "ü€😀",
    "&connection_id=x&state=y",
    "?#%00%zz/\\",
    "\"'><script>alert(1)</script>",
    "\r\nX: y",
    "x" * 500,
]


def sent_back(session: ConnectSession, back: str) -> None:
    """The way back holds the session and its state, and nothing that a browser could misread."""
    address, _, query = back.partition("?")
    assert address == RETURN_URL
    assert dict(parse_qsl(query, keep_blank_values=True)) == {
        "connection_id": str(session.uuid),
        "state": session.state,
    }
    assert back.isascii()


def test_state_comes_back_after_a_connection_and_after_a_failure(connecting: Tenant, customer: Customer) -> None:
    connected, failed = (a_session(connecting, state="customer 4711") for _ in range(2))
    customer.connect(connected)
    sent_back(connected, customer.return_link or "")
    customer.connect(failed, "refused")
    sent_back(failed, customer.return_link or "")


def test_state_comes_back_with_whatever_characters_it_holds(connecting: Tenant, customer: Customer) -> None:
    for state in STATES:
        cancelled = a_session(connecting, state=state)
        customer.open(link_of(cancelled))
        sent_back(cancelled, customer.press("/cancel")["Location"])


@pytest.mark.parametrize("state", [state for state in STATES if set(state) & set("<&\n")])
def test_a_page_leads_back_with_a_state_that_means_something_in_html(
    connecting: Tenant, customer: Customer, state: str
) -> None:
    late = a_session(connecting, state=state)
    customer.open(link_of(late))
    customer.press("/continue")
    let_time_pass(late)
    customer.open(f"/connect/s/{late.uuid}")
    assert b"<script" not in customer.page.content
    sent_back(late, customer.return_link or "")


def test_without_a_state_none_is_sent_back(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.connect(session)
    assert parse_qs(urlsplit(customer.return_link or "").query) == {"connection_id": [str(session.uuid)]}


def test_a_return_url_that_was_removed_meanwhile_is_not_used(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    set_return_urls(agency=connecting.agency, return_urls=["https://app.example.com/other"], by=SYSTEM)
    customer.select()
    assert outcome(session) == ("connected", None)
    assert customer.return_link is None
    assert RETURN_URL.encode() not in customer.page.content
    assert "You can close this page now." in customer.shown_text


# The agency's looks -----------------------------------------------------------------------------------------


def test_the_pages_come_in_the_agency_s_colour_with_its_logo(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.open(link_of(session))
    assert b"/brand/" not in customer.page.content
    set_accent(agency=connecting.agency, accent="#FFCC00", by=SYSTEM)
    set_picture(agency=connecting.agency, kind="logo", file=a_picture(), by=SYSTEM)
    customer.open(link_of(session))
    assert b'href="/brand/ffcc00.css"' in customer.page.content
    logo = re.search(r"src=\"(/brand/[0-9a-f]{64}\.png)\"", customer.page.content.decode())
    assert logo
    assert size_of(a_browser().get(logo[1]).content) == (300, 100)


def test_texts_of_agency_and_customer_are_only_text(connecting: Tenant, customer: Customer) -> None:
    nasty = '"><img src=x onerror=alert(1)></title><script>'
    type(connecting.agency).objects.filter(pk=connecting.agency.pk).update(name=nasty)
    type(connecting.workspace).objects.filter(pk=connecting.workspace.pk).update(name=nasty)
    session = a_session(connecting)
    for page in (
        customer.open(link_of(session)),
        customer.open(customer.consent(customer.press_continue())),
        customer.select(),
    ):
        assert b"<img" not in page.content
        assert b"<script" not in page.content
