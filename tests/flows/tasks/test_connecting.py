"""A customer connects a number by keyboard alone, by the link that their agency has sent them.

`test_connect_browser` does so without JavaScript.
"""

import pytest
from django.utils.timezone import now
from playwright.sync_api import expect

from channelconnect.services.sessions.ending import connect_url
from tests.channelconnect.agencies import a_session, connection_events, switch_on
from tests.flows.agency_site import expect_return
from tests.flows.tasks.conftest import BY_KEYBOARD_ONLY, SignIn
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@BY_KEYBOARD_ONLY
def test_a_number_is_connected_in_few_clicks(person_at: SignIn, sandbox: RunningSandbox, a: Tenant) -> None:
    session = a_session(switch_on(a))
    person = person_at()
    person.begin(connect_url(session, now=now()))
    person.clicks = 1  # the link in the message
    person.click("button", "Continue")
    # At the provider: who one is, and that one allows it.
    person.click("link", "fresh", inside="body")
    person.click("button", "Continue", inside="body")
    expect(person.page.get_by_role("radio")).to_be_checked()
    person.click("button", "Connect")
    expect_return(person.page)
    assert connection_events(a) == ["channel.connection.completed"]
    assert (person.clicks, person.fields) == (5, 0)
    assert not person.scripts, "what has scripts of its own must also be done without them"
