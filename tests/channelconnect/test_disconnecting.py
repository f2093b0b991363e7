"""What disconnecting a channel leaves at its provider: nothing, as soon as the provider can be told."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import Allowance, AllowanceUse, ChannelCredential, Unsubscription
from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.platforms import provider_for
from channelconnect.tasks import unsubscribe
from tests import furnished
from tests.agency.console.browsers import text
from tests.channelconnect.agencies import a_session, switch_on
from tests.channelconnect.customer import Customer, outcome
from tests.channelconnect.sending.messages import a_channel
from tests.factories import PlanFactory, plan_limits
from tests.tenants import Tenant
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import assign_plan

pytestmark = pytest.mark.slow

a, b = furnished.a_with_customer, furnished.b_with_customer

FIRST_NUMBER, SECOND_NUMBER, BUSINESS = "4010000", "4010001", "2010000"
PAGE = "6010000"
CONTAINERS = {"whatsapp": BUSINESS, "facebook": PAGE, "instagram": PAGE}


def connected(tenant: Tenant, customer: Customer, platform: str = "whatsapp", account: str | None = None) -> Channel:
    """A channel that the customer has connected for the tenant."""
    session = a_session(tenant, platform=platform)
    customer.authorize(session)
    customer.select(account)
    assert outcome(session) == ("connected", None)
    assert session.channel
    return session.channel


def a_connected_number(tenant: Tenant, customer: Customer, account: str = FIRST_NUMBER) -> Channel:
    """A number and its subscription as the customer's walk leaves them, without the walk."""
    channel = a_channel(tenant.workspace, customer.sandbox, external_id=account)
    token = ChannelCredential.objects.get(channel=channel).token or ""
    found = Account(external_id=account, container_id=BUSINESS, name=channel.name, handle=channel.handle, token=token)
    provider_for("whatsapp").subscribe(found, Grant(platform="whatsapp", token=token))
    return channel


def disconnect(tenant: Tenant, channel: Channel) -> None:
    answer = tenant.api.delete(f"{tenant.path}/channels/{channel.uuid}")
    assert answer.json()["data"]["status"] == "disconnected"


def subscribed(customer: Customer) -> set[str]:
    """What sends its messages to us, as the provider sees it."""
    return set(customer.sandbox.ledger()["subscriptions"])


def calls(customer: Customer) -> int:
    """How often the provider was asked to take something back."""
    return sum(call["call"] == "unsubscribe" for call in customer.sandbox.ledger()["calls"])


def ends() -> list[tuple[str, str, str]]:
    rows = Unsubscription.objects.order_by("id")
    assert not rows.exclude(status__in=["subscribing", "waiting"]).exclude(token=None).exists()
    return list(rows.values_list("reason", "status", "fault"))


def let_them_be_due() -> None:
    Unsubscription.objects.update(due_at=now() - timedelta(hours=1), in_flight_until=None)


@pytest.mark.parametrize("platform", ["whatsapp", "facebook", "instagram"])
def test_the_token_is_forgotten_at_once_and_the_subscription_taken_back_by_a_task(
    connecting: Tenant, customer: Customer, platform: str
) -> None:
    channel = connected(connecting, customer, platform)
    token = ChannelCredential.objects.get(channel=channel).token
    disconnect(connecting, channel)
    assert not ChannelCredential.objects.exists()
    assert subscribed(customer) == {CONTAINERS[platform]}
    assert [row.token for row in Unsubscription.objects.all()] == [token]
    unsubscribe()
    assert subscribed(customer) == set()
    assert ends() == [("disconnected", "unsubscribed", "")]
    unsubscribe()
    disconnect(connecting, channel)
    unsubscribe()
    assert calls(customer) == 1


def test_a_page_that_messenger_and_instagram_share_is_kept_for_the_other(
    connecting: Tenant, customer: Customer
) -> None:
    messenger, instagram = (connected(connecting, customer, platform) for platform in ("facebook", "instagram"))
    disconnect(connecting, messenger)
    unsubscribe()
    assert subscribed(customer) == {PAGE}
    assert calls(customer) == 0
    disconnect(connecting, instagram)
    unsubscribe()
    assert subscribed(customer) == set()
    assert ends() == [("disconnected", "still_used", ""), ("disconnected", "unsubscribed", "")]


@pytest.mark.parametrize("status", ["active", "error"])
def test_a_business_account_is_kept_for_another_agency_s_number(
    connecting: Tenant, b: Tenant, customer: Customer, status: str
) -> None:
    ours, theirs = (
        a_connected_number(connecting, customer, FIRST_NUMBER),
        a_connected_number(b, customer, SECOND_NUMBER),
    )
    Channel.objects.filter(pk=theirs.pk).update(status=status)
    disconnect(connecting, ours)
    unsubscribe()
    assert (subscribed(customer), calls(customer)) == ({BUSINESS}, 0)
    disconnect(b, theirs)
    unsubscribe()
    assert subscribed(customer) == set()


@pytest.mark.parametrize("error", ["password_changed", "app_removed"])
def test_with_a_dead_token_it_is_disconnected_all_the_same(connecting: Tenant, customer: Customer, error: str) -> None:
    channel = a_connected_number(connecting, customer)
    customer.sandbox.control("POST", "revoke", {"person": "ann", "error": error})
    disconnect(connecting, channel)
    unsubscribe()
    assert ends() == [("disconnected", "refused", "credentials_expired")]
    let_them_be_due()
    unsubscribe()
    assert calls(customer) == 1


def test_a_token_that_cannot_be_read_any_more_does_not_keep_the_channel(connecting: Tenant, customer: Customer) -> None:
    channel = a_connected_number(connecting, customer)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE channelconnect_channelcredential SET token = 'garbled'")
    disconnect(connecting, channel)
    unsubscribe()
    assert ends() == [("disconnected", "refused", "credentials_expired")]


@pytest.mark.parametrize("fault", ["503", "app_throttled", "accept_then_close"])
def test_a_provider_that_is_away_is_asked_again_later(connecting: Tenant, customer: Customer, fault: str) -> None:
    channel = a_connected_number(connecting, customer)
    disconnect(connecting, channel)
    customer.sandbox.play(faults=[{"call": "unsubscribe", "fault": fault, "times": 1}])
    unsubscribe()
    [row] = Unsubscription.objects.all()
    assert (row.status, row.tries, bool(row.token), bool(row.fault)) == ("waiting", 1, True, True)
    assert timedelta(seconds=50) < row.due_at - now() < timedelta(minutes=1)
    unsubscribe()
    assert calls(customer) == 1
    let_them_be_due()
    unsubscribe()
    assert (subscribed(customer), calls(customer)) == (set(), 2)
    assert ends() == [("disconnected", "unsubscribed", "")]


def test_after_ten_tries_over_more_than_a_day_it_is_given_up(connecting: Tenant, customer: Customer) -> None:
    disconnect(connecting, a_connected_number(connecting, customer))
    customer.sandbox.play(faults=[{"call": "unsubscribe", "fault": "503"}])
    waited = timedelta()
    for _ in range(10):
        unsubscribe()
        waited += Unsubscription.objects.get().due_at - now()
        let_them_be_due()
    assert ends() == [("disconnected", "given_up", "provider_unavailable")]
    unsubscribe()
    assert calls(customer) == 10
    assert timedelta(days=1) < waited < timedelta(days=2)


def test_what_the_provider_refuses_for_good_is_not_asked_again(connecting: Tenant, customer: Customer) -> None:
    disconnect(connecting, a_connected_number(connecting, customer))
    customer.sandbox.play(faults=[{"call": "unsubscribe", "fault": "permission_missing"}])
    unsubscribe()
    assert ends() == [("disconnected", "refused", "subscription_failed")]


# Connected again ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("was_told", [True, False])
def test_the_channel_comes_back_with_its_id(connecting: Tenant, customer: Customer, was_told: bool) -> None:
    channel = a_connected_number(connecting, customer)
    disconnect(connecting, channel)
    if was_told:
        unsubscribe()
    session = a_session(connecting, reconnect=channel.uuid)
    customer.authorize(session)
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("connected", None)
    assert session.channel == channel
    assert connecting.api.get(f"{connecting.path}/channels/{channel.uuid}").json()["data"]["status"] == "active"
    unsubscribe()
    assert subscribed(customer) == {BUSINESS}
    assert ends() == [("disconnected", "unsubscribed" if was_told else "still_used", "")]
    assert ChannelCredential.objects.get().channel == channel


def test_another_agency_s_sub_account_connects_the_freed_account(
    connecting: Tenant, b: Tenant, customer: Customer
) -> None:
    channel = a_connected_number(connecting, customer)
    refused = a_session(switch_on(b))
    customer.authorize(refused)
    customer.select(FIRST_NUMBER)
    assert outcome(refused) == ("failed", "account_already_connected_elsewhere")
    disconnect(connecting, channel)
    theirs = connected(b, customer, account=FIRST_NUMBER)
    unsubscribe()
    assert subscribed(customer) == {BUSINESS}
    back = a_session(connecting, reconnect=channel.uuid)
    customer.authorize(back)
    customer.select(FIRST_NUMBER)
    assert outcome(back) == ("failed", "account_already_connected_elsewhere")
    assert Channel.objects.exclude(status="disconnected").get() == theirs


def test_the_freed_room_of_a_plan_can_be_used(connecting: Tenant, customer: Customer) -> None:
    plan = PlanFactory.create(agency=connecting.agency, limits=plan_limits(channels__whatsapp=1))
    assign_plan(workspace=connecting.workspace, plan=plan, now=now(), by=SYSTEM)
    disconnect(connecting, a_connected_number(connecting, customer))
    connected(connecting, customer, account=SECOND_NUMBER)
    unsubscribe()
    assert subscribed(customer) == {BUSINESS}


def test_an_account_that_is_just_being_unsubscribed_is_chosen_again_in_a_moment(
    connecting: Tenant, customer: Customer
) -> None:
    disconnect(connecting, a_connected_number(connecting, customer))
    customer.sandbox.play(faults=[{"call": "unsubscribe", "fault": "accept_then_500"}])
    unsubscribe()
    session = a_session(connecting)
    customer.authorize(session)
    answer = customer.press("/choose", account=FIRST_NUMBER)
    assert (answer.status_code, "Press Connect again in a moment" in text(answer)) == (503, True)
    assert outcome(session)[0] == "selecting"
    assert subscribed(customer) == set()
    Unsubscription.objects.update(in_flight_until=now())
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("connected", None)
    let_them_be_due()
    unsubscribe()
    assert subscribed(customer) == {BUSINESS}


def test_an_account_that_has_moved_is_taken_back_where_it_was(connecting: Tenant, customer: Customer) -> None:
    channel = a_connected_number(connecting, customer)
    ChannelCredential.objects.filter(channel=channel).update(container_id="2019999")
    session = a_session(connecting, reconnect=channel.uuid)
    customer.authorize(session)
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("connected", None)
    [row] = Unsubscription.objects.all()
    assert (row.reason, row.container_id, row.status) == ("moved", "2019999", "waiting")
    assert ChannelCredential.objects.get().container_id == BUSINESS


def test_who_was_written_to_before_an_account_moved_to_another_portfolio_counts_there(
    connecting: Tenant, customer: Customer
) -> None:
    channel = a_connected_number(connecting, customer)
    ChannelCredential.objects.filter(channel=channel).update(portfolio_id="8009")
    before = Allowance.objects.create(key="portfolio:8009", used=2)
    for hours, address in ((1, "4915100001"), (25, "4915100002")):
        AllowanceUse.objects.create(allowance=before, address=address, last_at=now() - timedelta(hours=hours))
    session = a_session(connecting, reconnect=channel.uuid)
    customer.authorize(session)
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("connected", None)
    after = Allowance.objects.get(key=f"portfolio:{ChannelCredential.objects.get().portfolio_id}")
    assert (after.pk != before.pk, after.used) == (True, 1)
    lately = before.uses.filter(address="4915100001")
    assert list(after.uses.values_list("address", "last_at")) == list(lately.values_list("address", "last_at"))


# What support sees --------------------------------------------------------------------------------------------


def test_neither_a_row_s_name_nor_the_log_holds_the_token(
    connecting: Tenant, customer: Customer, caplog: pytest.LogCaptureFixture
) -> None:
    channel = a_connected_number(connecting, customer)
    token = ChannelCredential.objects.get().token or ""
    disconnect(connecting, channel)
    customer.sandbox.play(faults=[{"call": "unsubscribe", "fault": "503"}])
    unsubscribe()
    row: Any = Unsubscription.objects.get()
    assert str(row) == f"whatsapp {BUSINESS}: waiting"
    lines = "\n".join(str(vars(record)) for record in caplog.records)
    assert "subscription not taken back" in lines
    assert token
    assert token not in f"{row!r} {lines}"
