"""Numbers that stay in the WhatsApp Business app: the choice, the connection, and what is requested of the app."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from channelconnect.models import BusinessAppSync, ConnectSession
from channelconnect.services import business_app
from channelconnect.services.business_app import PAUSE, TIME_TO_ASK, request_next_app_data
from channelconnect.services.settings import allow_business_app, settings_of
from tests.agency.console.browsers import at_the_console, text
from tests.channelconnect.agencies import RETURN_URL, a_session
from tests.channelconnect.customer import Customer, link_of, outcome
from tests.channelconnect.inbox.signed import post
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from tools.sandbox.control.business_app import SYNC_TYPES, app_data
from tools.sandbox.control.callbacks import compose
from tools.sandbox.control.people import PEOPLE
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import disconnect_channel, mark_channel_lost

pytestmark = pytest.mark.django_db
KEEP = {"number": "business_app"}
QUESTION = "How do you want to use the number?"
SETTINGS = "/console/configuration/channel-connect/return-urls"


@pytest.fixture
def allowed(connecting: Tenant) -> Tenant:
    allow_business_app(agency=connecting.agency, allowed=True, by=SYSTEM)
    return connecting


def connect(tenant: Tenant, customer: Customer, person: str = "phone", chosen: Any = KEEP) -> ConnectSession:
    """Walk the whole way with this choice on the first page; the first account, if there is one, is connected."""
    session = a_session(tenant)
    customer.open(link_of(session))
    address = str(customer.press("/continue", **chosen)["Location"])
    customer.open(customer.consent(address, person))
    if customer.accounts():
        customer.select()
    return session


@pytest.fixture
def shared(allowed: Tenant, customer: Customer) -> Channel:
    """A connected number that stays in the app."""
    assert outcome(connect(allowed, customer)) == ("connected", None)
    return Channel.objects.get()


def calls(customer: Customer) -> list[str]:
    return [call["call"] for call in customer.sandbox.ledger()["calls"]]


def request_all(at: datetime | None = None) -> int:
    """Make the requests that are due. Returns how many rows were taken."""
    return sum(1 for _ in iter(lambda: request_next_app_data(now=at or now()), False))


def test_the_choice_is_offered_only_for_whatsapp_and_where_the_agency_allows_it(
    connecting: Tenant, customer: Customer
) -> None:
    session = a_session(connecting)
    customer.open(link_of(session))
    assert QUESTION not in customer.shown_text
    dialog = parse_qs(urlsplit(str(customer.press("/continue", **KEEP)["Location"])).query)
    assert "extras" not in dialog
    session.refresh_from_db()
    assert not session.keeps_business_app

    allow_business_app(agency=connecting.agency, allowed=True, by=SYSTEM)
    customer.open(link_of(a_session(connecting, platform="facebook")))
    assert QUESTION not in customer.shown_text
    customer.open(link_of(a_session(connecting)))
    assert QUESTION in customer.shown_text
    for number, extras in (("here", None), ("", None), ("business_app", "whatsapp_business_app_onboarding")):
        dialog = parse_qs(urlsplit(str(customer.press("/continue", number=number)["Location"])).query)
        told = orjson.loads(dialog["extras"][0]) if "extras" in dialog else {}
        assert told.get("featureType") == extras
        assert told.get("sessionInfoVersion") == ("3" if extras else None)


def test_an_agency_allows_it_in_its_settings(connecting: Tenant) -> None:
    admin = at_the_console(connecting.agency)
    assert not settings_of(connecting.agency).allows_business_app
    answer = admin.post(SETTINGS, {"return_urls": RETURN_URL, "allows_business_app": "on"}, follow=True)
    assert "WhatsApp numbers may stay in the WhatsApp Business app." in text(answer)
    changes = ActivityEntry.objects.get(action="connect.business_app_changed").changes
    assert changes == {"allows_business_app": [False, True]}
    admin.post(SETTINGS, {"return_urls": RETURN_URL})
    assert not settings_of(connecting.agency).allows_business_app


@pytest.mark.parametrize(("person", "chosen"), [("phone", {"number": "here"}), ("phone", {}), ("ann", KEEP)])
def test_a_number_is_connected_only_in_the_way_that_was_chosen(
    allowed: Tenant, customer: Customer, person: str, chosen: dict[str, str]
) -> None:
    assert outcome(connect(allowed, customer, person, chosen)) == ("failed", "no_eligible_accounts")
    assert ("No number in the WhatsApp Business app" in customer.shown_text) is (chosen == KEEP)


def test_a_number_that_stays_in_the_app_is_never_registered_nor_taken_from_the_phone(
    shared: Channel, customer: Customer
) -> None:
    assert shared.is_on_business_app
    assert request_all() == 2
    assert [call for call in calls(customer) if call in ("subscribe", "register", "app_data")] == [
        "subscribe",
        "app_data",
        "app_data",
    ]
    sync = BusinessAppSync.objects.get()
    assert (sync.contacts_request_id, sync.history_request_id) == (
        f"smb_app_state_sync-{shared.external_id}",
        f"history-{shared.external_id}",
    )
    assert request_all(now() + timedelta(hours=1)) == 0
    disconnect_channel(channel=shared, now=now(), by=SYSTEM)
    assert "register" not in calls(customer)
    assert not [call for call in customer.sandbox.ledger()["calls"] if "deregister" in call["path"]]


class Killed(BaseException):
    """The end of a process."""


@pytest.mark.parametrize("dies_before", ["_request", "_token", "_save"])
def test_a_request_is_made_at_most_once_wherever_the_process_dies(
    shared: Channel, customer: Customer, dies_before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: object, **more: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(business_app, dies_before, die)
        with pytest.raises(Killed):
            request_next_app_data(now=now())
    request_all()
    # A process that died before it had written anything down has called nobody, so the next run calls for both.
    made = 2 if dies_before == "_save" else 1
    assert calls(customer).count("app_data") == made
    sync = BusinessAppSync.objects.get()
    assert sync.contacts_asked_at
    assert sync.history_request_id
    page = dashboard_client(shared.workspace).get("/app/channels")
    assert "Meta did not answer." not in text(page)
    BusinessAppSync.objects.update(contacts_asked_at=now() - timedelta(hours=2))
    page = dashboard_client(shared.workspace).get("/app/channels")
    assert ("Contacts could not be brought over. Meta did not answer." in text(page)) is (made == 1)


def test_a_request_without_an_answer_is_not_made_again_and_a_throttled_one_is(
    shared: Channel, customer: Customer
) -> None:
    customer.sandbox.play(faults=[{"call": "app_data", "fault": "accept_then_close", "times": 1}])
    request_all()
    sync = BusinessAppSync.objects.get()
    assert (sync.contacts_fault, sync.history_fault, sync.due_at) == ("provider_unavailable", "", None)
    assert calls(customer).count("app_data") == 2

    BusinessAppSync.objects.update(begun_at=now(), due_at=now(), history_asked_at=None, history_request_id="")
    customer.sandbox.play(faults=[{"call": "app_data", "fault": "app_throttled", "times": 1}])
    request_all()
    sync.refresh_from_db()
    assert sync.history_asked_at is None
    request_all(now() + PAUSE + timedelta(seconds=1))
    sync.refresh_from_db()
    # The sandbox refuses the second request for the same thing, as WhatsApp does.
    assert (sync.history_fault, sync.due_at) == ("subscription_failed", None)


def test_a_lost_number_waits_and_after_a_day_it_is_too_late(shared: Channel, customer: Customer) -> None:
    mark_channel_lost(channel=shared, reason="ACCOUNT_OFFBOARDED", now=now(), by=SYSTEM)
    assert request_all() == 1
    assert request_all(now() + TIME_TO_ASK) == 1
    sync = BusinessAppSync.objects.get()
    assert (sync.contacts_fault, sync.history_fault, sync.due_at) == ("too_late", "too_late", None)
    assert "app_data" not in calls(customer)


def test_the_dashboard_says_what_has_come_and_what_has_not(shared: Channel) -> None:
    owner: Client = dashboard_client(shared.workspace)

    def shown(**state: Any) -> str:
        BusinessAppSync.objects.update(**state)
        return text(owner.get("/app/channels"))

    assert "Also on the phone 0 contacts · Conversations not yet here" in shown()
    assert "1,320 contacts · Conversations 45%" in shown(contacts=1_320, history_progress=45)
    assert "Conversations brought over" in shown(history_progress=100)
    assert "The owner chose not to share the history" in shown(is_history_declined=True, history_progress=None)
    assert "Contacts could not be brought over. The 24 hours" in shown(contacts=0, contacts_fault="too_late")
    assert "Meta refused it. To try again, disconnect the number" in shown(history_fault="131000")
    assert "not yet here" not in shown()
    week = timedelta(days=7, minutes=1)
    assert "Conversations" not in shown(begun_at=now() - week)
    mark_channel_lost(channel=shared, reason="PARTNER_REMOVED", now=now(), by=SYSTEM)
    page = shown()
    assert "The number was disconnected in the WhatsApp Business app" in page
    assert "Also on the phone" not in page


@pytest.mark.parametrize(("person", "messages"), [("phone", 6), ("private", 0)])
def test_what_the_sandbox_hands_over_and_echoes_arrives(
    allowed: Tenant, customer: Customer, person: str, messages: int
) -> None:
    connect(allowed, customer, person)
    channel = Channel.objects.get()
    for what in SYNC_TYPES:
        for body in app_data(PEOPLE[person], channel.external_id, what):
            post(customer.sandbox, orjson.dumps(body))
    assert (Contact.objects.count(), Message.objects.count()) == (3, messages)
    sync = BusinessAppSync.objects.get()
    progress = 100 if messages else None
    assert (sync.contacts, sync.history_progress, sync.is_history_declined) == (3, progress, not messages)
    for kind in ("echo", "removed"):
        post(customer.sandbox, orjson.dumps(compose({"kind": kind, "account": channel.external_id, "text": "From me"})))
    sent = Message.objects.get(text="From me")
    channel.refresh_from_db()
    assert (sent.direction, sent.sent_elsewhere, channel.status) == ("out", True, "error")


def test_connecting_again_begins_anew_and_remembers_the_choice(
    allowed: Tenant, shared: Channel, customer: Customer
) -> None:
    request_all()
    session = a_session(allowed, reconnect=shared.uuid)
    customer.open(link_of(session))
    assert 'value="business_app" form="continue" checked' in customer.page.content.decode()
    connect(allowed, customer)
    assert request_all() == 0, "the number worked all the time, so this renews its access alone"
    mark_channel_lost(channel=Channel.objects.get(), reason="PARTNER_REMOVED", now=now(), by=SYSTEM)
    connect(allowed, customer)
    assert BusinessAppSync.objects.get().contacts_asked_at is None
    assert request_all() == 2
