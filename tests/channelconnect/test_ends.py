"""Every way a session can end, each error code reached through the real client and the sandbox over HTTP."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import override_settings
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import ChannelCredential, ConnectSession
from channelconnect.models.sessions import ERROR_CODES
from channelconnect.pages.landing import ERROR_MESSAGES
from channelconnect.services.sessions.ending import expire_sessions
from config.db import database_now
from tests import furnished
from tests.channelconnect.agencies import a_session, connection_events, path_of, switch_on, wanted
from tests.channelconnect.customer import Customer, link_of, outcome
from tests.factories import ChannelFactory, PlanFactory, plan_limits
from tests.tenants import Tenant
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import assign_plan

pytestmark = pytest.mark.slow

a, b = furnished.a_with_customer, furnished.b_with_customer

FIRST_NUMBER, SECOND_NUMBER = "4010000", "4010001"


def declined(tenant: Tenant, customer: Customer) -> ConnectSession:
    session = a_session(tenant)
    customer.authorize(session, decision="decline")
    return session


def unticked(tenant: Tenant, customer: Customer) -> ConnectSession:
    session = a_session(tenant, platform="facebook")
    customer.authorize(session, declined=["pages_messaging"])
    return session


def without_accounts(tenant: Tenant, customer: Customer) -> ConnectSession:
    return arrived(tenant, customer, "nobody")


def arrived(tenant: Tenant, customer: Customer, person: str, **scenario: Any) -> ConnectSession:
    session = a_session(tenant)
    customer.authorize(session, person, **scenario)
    return session


def taken(tenant: Tenant, customer: Customer) -> ConnectSession:
    ChannelFactory.create(external_id=FIRST_NUMBER)
    session = a_session(tenant)
    customer.authorize(session)
    customer.select(FIRST_NUMBER)
    return session


def without_room(tenant: Tenant, customer: Customer) -> ConnectSession:
    plan = PlanFactory.create(agency=tenant.agency, limits=plan_limits(channels__whatsapp=1))
    ChannelFactory.create(workspace=tenant.workspace)
    assign_plan(workspace=tenant.workspace, plan=plan, now=now(), by=SYSTEM)
    session = a_session(tenant)
    customer.connect(session)
    return session


def mismatched(tenant: Tenant, customer: Customer) -> ConnectSession:
    channel = ChannelFactory.create(workspace=tenant.workspace, external_id=FIRST_NUMBER)
    session = a_session(tenant, reconnect=channel.uuid)
    customer.authorize(session)
    customer.select(SECOND_NUMBER)
    return session


def refused_subscription(tenant: Tenant, customer: Customer) -> ConnectSession:
    session = a_session(tenant)
    customer.connect(session, "refused")
    return session


def lapsed(tenant: Tenant, customer: Customer) -> ConnectSession:
    session = a_session(tenant)
    customer.connect(session, "leaver")
    return session


def unconfigured(tenant: Tenant, customer: Customer) -> ConnectSession:
    session = a_session(tenant)
    with override_settings(META_WHATSAPP_CONFIG_ID=""):
        customer.open(link_of(session))
        customer.follow(customer.press("/continue"))
    return session


def late(tenant: Tenant, customer: Customer) -> ConnectSession:
    session = a_session(tenant)
    customer.open(link_of(session))
    dialog = customer.press_continue()
    ConnectSession.objects.filter(pk=session.pk).update(expires_at=now() - timedelta(seconds=1))
    customer.open(customer.consent(dialog))
    return session


WALKS: dict[str, tuple[str, Any]] = {
    "authorization_not_completed": ("cancelled", declined),
    "required_permissions_missing": ("failed", unticked),
    "no_eligible_accounts": ("failed", without_accounts),
    "account_already_connected_elsewhere": ("failed", taken),
    "channel_limit_reached": ("failed", without_room),
    "reconnection_target_mismatch": ("failed", mismatched),
    "subscription_failed": ("failed", refused_subscription),
    "credentials_expired": ("failed", lapsed),
    "token_exchange_failed": ("failed", lambda tenant, customer: arrived(tenant, customer, "spent")),
    "asset_discovery_incomplete": ("failed", lambda tenant, customer: arrived(tenant, customer, "crowd")),
    "provider_request_failed": ("failed", lambda tenant, customer: arrived(tenant, customer, "forbidden")),
    "provider_unavailable": ("failed", lambda tenant, customer: arrived(tenant, customer, "away")),
    "provider_not_configured": ("failed", unconfigured),
    "session_expired": ("expired", late),
}


def test_there_is_a_walk_and_a_page_for_every_code() -> None:
    assert WALKS.keys() == ERROR_CODES.keys() == ERROR_MESSAGES.keys()
    assert len(WALKS) == 14


@pytest.mark.parametrize("code", WALKS)
def test_a_walk_ends_with_its_code_and_leaves_no_channel(connecting: Tenant, customer: Customer, code: str) -> None:
    status, walk = WALKS[code]
    session = walk(connecting, customer)
    assert outcome(session) == (status, code)
    connected = Channel.objects.filter(workspace=connecting.workspace, external_id__in=[FIRST_NUMBER, SECOND_NUMBER])
    assert connected.count() == (1 if code == "reconnection_target_mismatch" else 0)
    assert not ChannelCredential.objects.exists()
    assert (session.grant, session.link, session.state_digest, session.channel) == (None, None, None, None)

    back = f"{session.return_url}?connection_id={session.uuid}"
    assert customer.return_link == back
    if code == "authorization_not_completed":
        assert customer.page.status_code == 303
    else:
        assert (customer.page.status_code, customer.page["Refresh"]) == (200, f"10; url={back}")
        assert str(ERROR_MESSAGES[code][0]) in customer.shown_text
        assert str(ERROR_MESSAGES[code][1]) in customer.shown_text
        assert "return there in 10 seconds" in customer.shown_text

    assert connection_events(connecting) == [f"channel.connection.{status}"]
    read = connecting.api.get(f"{path_of(connecting)}/{session.uuid}").json()["data"]
    assert (read["status"], read["error_code"], read["channel_id"]) == (status, code, None)
    assert connecting.events[-1]["data"] == read


@pytest.mark.parametrize(
    ("person", "code"),
    [
        ("late", "token_exchange_failed"),
        ("lapsed", "credentials_expired"),
        ("revoked", "credentials_expired"),
        ("busy", "provider_request_failed"),
        ("html", "provider_unavailable"),
        ("onlooker", "no_eligible_accounts"),
    ],
)
def test_people_with_other_troubles_end_as_they_should(
    connecting: Tenant, customer: Customer, person: str, code: str
) -> None:
    assert outcome(arrived(connecting, customer, person)) == ("failed", code)


@pytest.mark.parametrize("fault", ["permission_missing", "success_false", "503", "throttled_for_long"])
def test_whatever_fails_at_the_subscription_leaves_no_channel(
    connecting: Tenant, customer: Customer, fault: str
) -> None:
    session = a_session(connecting)
    customer.connect(session, faults=[{"call": "subscribe", "fault": fault}])
    assert outcome(session)[0] == "failed"
    assert not Channel.objects.exists()
    assert connection_events(connecting) == ["channel.connection.failed"]


def test_a_number_is_registered_where_it_must_be(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.connect(session, "fresh")
    assert outcome(session) == ("connected", None)
    assert "register" in [call["call"] for call in customer.sandbox.ledger()["calls"]]


def test_only_the_messaging_permissions_are_required(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting, platform="facebook")
    unneeded = ["pages_manage_engagement", "pages_read_user_content", "pages_read_engagement", "business_management"]
    customer.connect(session, declined=unneeded)
    assert outcome(session) == ("connected", None)


def test_the_customer_cancels_before_the_provider_or_at_the_choice(connecting: Tenant, customer: Customer) -> None:
    early, later = a_session(connecting), a_session(connecting)
    customer.open(link_of(early))
    answers = [customer.press("/cancel")]
    customer.authorize(later)
    answers.append(customer.press("/cancel"))
    for session, answer in zip((early, later), answers, strict=True):
        assert outcome(session) == ("cancelled", "authorization_not_completed")
        back = f"{session.return_url}?connection_id={session.uuid}"
        assert (answer.status_code, answer["Location"]) == (303, back)
    assert connection_events(connecting) == ["channel.connection.cancelled"] * 2


def test_a_grant_that_runs_out_before_the_choice_is_credentials_expired(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting, platform="facebook")
    customer.authorize(session)
    session.refresh_from_db()
    kept = json.loads(session.grant or "")
    kept["grant"]["expires_at"] = (now() - timedelta(seconds=1)).isoformat()
    session.grant = json.dumps(kept)
    session.save(update_fields=["grant"])
    customer.select()
    assert outcome(session) == ("failed", "credentials_expired")
    assert not Channel.objects.exists()


# Reconnecting -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["active", "error", "disconnected"])
def test_reconnecting_keeps_the_channel_s_id_and_makes_it_active(
    connecting: Tenant, customer: Customer, status: str
) -> None:
    channel = ChannelFactory.create(workspace=connecting.workspace, external_id=FIRST_NUMBER, name="Old name")
    Channel.objects.filter(pk=channel.pk).update(status=status)
    session = a_session(connecting, reconnect=channel.uuid)
    customer.authorize(session)
    assert f"Choose Old name ({channel.handle}) again" in customer.shown_text
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("connected", None)
    assert session.channel == channel
    channel.refresh_from_db()
    assert (channel.status, channel.name) == ("active", "Shop 1")
    assert Channel.objects.count() == 1
    assert ChannelCredential.objects.get().channel == channel


def test_a_full_plan_does_not_stop_a_reconnection_but_a_disconnected_channel_needs_room(
    connecting: Tenant, customer: Customer
) -> None:
    channel = ChannelFactory.create(workspace=connecting.workspace, external_id=FIRST_NUMBER)
    plan = PlanFactory.create(agency=connecting.agency, limits=plan_limits(channels__whatsapp=1))
    assign_plan(workspace=connecting.workspace, plan=plan, now=now(), by=SYSTEM)
    first = a_session(connecting, reconnect=channel.uuid)
    customer.authorize(first)
    customer.select(FIRST_NUMBER)
    assert outcome(first) == ("connected", None)

    Channel.objects.filter(pk=channel.pk).update(status="disconnected")
    ChannelFactory.create(workspace=connecting.workspace, external_id="another")
    second = a_session(connecting, reconnect=channel.uuid)
    customer.authorize(second)
    customer.select(FIRST_NUMBER)
    assert outcome(second) == ("failed", "channel_limit_reached")


def test_the_page_says_when_the_channel_to_reconnect_is_not_among_the_accounts(
    connecting: Tenant, customer: Customer
) -> None:
    channel = ChannelFactory.create(workspace=connecting.workspace, external_id="999", name="Front desk")
    customer.authorize(a_session(connecting, reconnect=channel.uuid))
    assert "Front desk" in customer.shown_text
    assert "is not among your accounts" in customer.shown_text


def test_an_account_of_the_same_sub_account_is_connected_again_without_a_second_channel(
    connecting: Tenant, customer: Customer
) -> None:
    first = a_session(connecting)
    customer.connect(first)
    second = a_session(connecting)
    customer.connect(second)
    assert outcome(first) == outcome(second) == ("connected", None)
    assert first.channel == second.channel
    assert Channel.objects.count() == 1


def test_an_account_that_was_disconnected_elsewhere_is_free(connecting: Tenant, b: Tenant, customer: Customer) -> None:
    switch_on(b)
    elsewhere = ChannelFactory.create(workspace=b.workspace, external_id=FIRST_NUMBER)
    Channel.objects.filter(pk=elsewhere.pk).update(status="disconnected")
    session = a_session(connecting)
    customer.authorize(session)
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("connected", None)


def test_the_first_channel_gives_the_starter_pack_and_a_failed_connection_gives_none(
    connecting: Tenant, customer: Customer
) -> None:
    customer.connect(a_session(connecting), "refused")
    assert not Automation.objects.filter(workspace=connecting.workspace).exists()
    customer.connect(a_session(connecting))
    given = Automation.objects.filter(workspace=connecting.workspace).count()
    assert given
    customer.connect(a_session(connecting, platform="facebook"))
    assert Automation.objects.filter(workspace=connecting.workspace).count() == given


def test_a_disconnected_channel_cannot_take_its_account_back_from_a_newer_one(
    connecting: Tenant, customer: Customer
) -> None:
    old = ChannelFactory.create(workspace=connecting.workspace, external_id=FIRST_NUMBER)
    Channel.objects.filter(pk=old.pk).update(status="disconnected")
    ChannelFactory.create(workspace=connecting.workspace, external_id=FIRST_NUMBER)
    session = a_session(connecting, reconnect=old.uuid)
    customer.authorize(session)
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("failed", "account_already_connected_elsewhere")
    old.refresh_from_db()
    assert old.status == "disconnected"


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_web_host_s_wrong_clock_neither_prolongs_nor_ends_a_connection(
    connecting: Tenant, customer: Customer, hours: int
) -> None:
    began = database_now()
    with time_machine.travel(began + timedelta(hours=hours)):
        made = connecting.api.post(path_of(connecting), wanted()).json()["data"]
        expires = datetime.fromisoformat(made["expires_at"])
        assert began + timedelta(minutes=30) <= expires <= database_now() + timedelta(minutes=30)
        session = ConnectSession.objects.get()
        assert connecting.api.get(f"{path_of(connecting)}/{session.uuid}").json()["data"]["status"] == "pending"
        customer.connect(session)
        assert outcome(session) == ("connected", None)
        ended = [session.created_at, session.ended_at, session.channel.connected_at if session.channel else None]
    assert all(at and began <= at <= database_now() for at in ended)


TIME_RUNS_OUT = "UPDATE channelconnect_connectsession SET expires_at = now() - interval '1 hour'"


@pytest.mark.parametrize(
    ("person", "after"),
    [
        ("ann", 'UPDATE "channelconnect_connectsession" SET "state_digest" = NULL'),
        ("away", 'UPDATE "channelconnect_connectsession" SET "state_digest" = NULL'),
        ("ann", 'FROM "subaccounts_channel"'),
        ("refused", 'FROM "subaccounts_channel"'),
    ],
)
def test_time_that_runs_out_while_the_provider_is_asked_leaves_no_other_end(
    connecting: Tenant, customer: Customer, person: str, after: str
) -> None:
    """Whoever asked for the status meanwhile saw `expired`, which never changes again."""
    session = a_session(connecting)
    ran_out = False

    def let_it_run_out(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal ran_out
        answer = execute(sql, params, many, context)
        if after in sql and not ran_out:
            ran_out = True
            with connection.cursor() as cursor:
                cursor.execute(TIME_RUNS_OUT)
        return answer

    with connection.execute_wrapper(let_it_run_out):
        customer.authorize(session, person)
        if customer.accounts():
            customer.select()
    assert ran_out
    assert "The link has expired" in customer.shown_text
    read = connecting.api.get(f"{path_of(connecting)}/{session.uuid}").json()["data"]
    assert (read["status"], read["error_code"]) == ("expired", "session_expired")
    expire_sessions(now=now(), by=SYSTEM)
    assert outcome(session) == ("expired", "session_expired")
    assert connection_events(connecting) == ["channel.connection.expired"]
    assert not Channel.objects.filter(external_id=FIRST_NUMBER).exists()
