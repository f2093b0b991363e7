"""A customer connects a number by the link that their agency has sent them, in each way to use a page."""

import re

import pytest
from django.utils.timezone import now
from playwright.sync_api import Route, expect

from channelconnect.services import connect_url
from tests.channelconnect.agencies import a_session, connection_events, switch_on
from tests.flows.tasks.conftest import SignIn
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def play_the_agency(route: Route) -> None:
    route.fulfill(status=200, content_type="text/html", body="<!doctype html><link rel=icon href=data:,>Welcome back")


def test_a_number_is_connected_in_few_clicks(person_at: SignIn, sandbox: RunningSandbox, a: Tenant) -> None:
    session = a_session(switch_on(a))
    person = person_at()
    person.page.route("https://app.example.com/**", play_the_agency)
    person.begin(connect_url(session, now=now()))
    person.clicks = 1  # the link in the message
    person.click("button", "Continue")
    # At the provider: who one is, and that one allows it.
    person.click("link", "fresh", inside="body")
    person.click("button", "Continue", inside="body")
    expect(person.page.get_by_role("radio")).to_be_checked()
    person.click("button", "Connect")
    expect(person.page).to_have_url(re.compile(r"^https://app\.example\.com/done\?"))
    assert connection_events(a) == ["channel.connection.completed"]
    assert (person.clicks, person.fields) == (5, 0)
