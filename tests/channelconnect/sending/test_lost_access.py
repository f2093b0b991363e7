"""A channel is lost only where its present access has ended, whatever a call was told."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import ChannelCredential
from channelconnect.services.accounts import check_next_access
from channelconnect.tasks import check_access
from config.db import database_now
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_channel, a_conversation, a_message, ended, make_due, put_off
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, until, wait_for_lock
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import reconnect_channel

PAGES = ("facebook", "instagram")


def status_of(channel: Channel) -> str:
    channel.refresh_from_db()
    return channel.status


def checks_due() -> bool:
    return ChannelCredential.objects.filter(access_check_due_at__isnull=False).exists()


def test_an_error_about_one_person_fails_their_message_alone(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender
) -> None:
    channels = [a_channel(a.workspace, meta, platform=platform) for platform in PAGES]
    codes = ["200/1545041", "10/2018108", "10/2018065"]
    refused = [(code, a_message(a_conversation(one), f"Hi #{code}")) for one in channels for code in codes]
    others = [a_message(a_conversation(one), "Hi") for one in channels]

    start_sender()

    for code, message in refused:
        assert (ended(message).status, message.error_code) == ("failed", code)
    assert [ended(one).status for one in others] == ["sent", "sent"]
    assert [status_of(one) for one in channels] == ["active", "active"]
    assert not checks_due()


@pytest.mark.usefixtures("_long_waits")
def test_a_permission_error_that_is_not_known_waits_for_a_look_at_the_token(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender
) -> None:
    channel = a_channel(a.workspace, meta, platform="facebook")
    message, other = a_message(a_conversation(channel), "Hi #10/2018999"), a_message(a_conversation(channel), "Hi")

    start_sender()

    assert put_off(message).tries == 1
    assert ended(other).status == "sent"
    until(checks_due)
    check_access()
    assert (status_of(channel), checks_due()) == ("active", False)

    make_due(message)
    assert (ended(message).status, message.error_code) == ("failed", "10/2018999")
    assert (message.error_message or "").startswith("The provider refused the message. It says:")
    again = a_message(a_conversation(channel), "Hi #10/2018999")
    assert ended(again).error_code == "10/2018999"
    assert (status_of(channel), checks_due()) == ("active", False)


@pytest.mark.usefixtures("_long_waits")
def test_a_look_that_is_an_hour_old_is_repeated(a: Tenant, meta: RunningSandbox, start_sender: StartSender) -> None:
    channel = a_channel(a.workspace, meta, platform="facebook")
    ChannelCredential.objects.update(access_checked_at=database_now() - timedelta(hours=1, seconds=1))
    message = a_message(a_conversation(channel), "Hi #299/1")

    start_sender()

    assert put_off(message).tries == 1
    until(checks_due)


@pytest.mark.usefixtures("_long_waits")
@pytest.mark.parametrize("why", ["revoked", "scope withdrawn"])
def test_a_channel_whose_token_is_found_to_be_worth_nothing_is_lost(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender, why: str
) -> None:
    channel = a_channel(a.workspace, meta, platform="facebook")
    message = a_message(a_conversation(channel), "Hi #10/2018999")
    start_sender()
    put_off(message)
    until(checks_due)
    if why == "revoked":
        meta.control("POST", "revoke", {"person": "ann"})
    else:
        other = a_channel(a.workspace, meta, platform="facebook", external_id="6010001", scopes=("instagram_basic",))
        token = ChannelCredential.objects.get(channel=other).token
        credential = ChannelCredential.objects.get(channel=channel)
        credential.token = token
        credential.save(update_fields=["token"])

    check_access()

    assert (status_of(channel), checks_due()) == ("error", False)
    make_due(message)
    assert ended(message).error_code == "channel_not_connected"


def test_while_the_provider_is_away_nothing_is_known_of_a_token(a: Tenant, meta: RunningSandbox) -> None:
    channel = a_channel(a.workspace, meta, platform="facebook")
    ChannelCredential.objects.update(access_check_due_at=database_now())
    meta.play(faults=[{"call": "debug_token", "fault": "close"}])

    assert check_next_access(now=database_now())

    credential = ChannelCredential.objects.get()
    assert credential.access_check_due_at is not None
    assert credential.access_check_due_at > database_now()
    assert (credential.access_checked_at, status_of(channel)) == (None, "active")
    assert not check_next_access(now=database_now())


def test_a_look_at_an_old_token_says_nothing_of_a_new_one(meta: RunningSandbox, channel: Channel) -> None:
    ChannelCredential.objects.update(access_check_due_at=database_now())
    meta.control("POST", "revoke", {"person": "ann"})
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Channel.objects.select_for_update().get(pk=channel.pk)
            done = pool.submit(check_in_thread)
            wait_for_lock("transactionid")
            connect_again(channel)
        assert done.result(PATIENCE_SECONDS)
    assert status_of(channel) == "active"
    assert ChannelCredential.objects.get().access_checked_at is None


def check_in_thread() -> bool:
    try:
        return check_next_access(now=database_now())
    finally:
        connections.close_all()


def connect_again(channel: Channel) -> None:
    """Connect a channel anew, as a person does whose access had ended."""
    reconnect_channel(channel=channel, name=channel.name, handle=channel.handle, now=now(), by=SYSTEM)


def test_the_answer_to_a_call_with_an_old_token_leaves_a_new_connection_alone(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    message = a_message(a_conversation(channel), "Hi #190*1")
    with transaction.atomic():
        Channel.objects.select_for_update().get(pk=channel.pk)
        start_sender()
        wait_for_lock("transactionid")
        connect_again(channel)

    assert ended(message).status == "sent"
    assert status_of(channel) == "active"


def test_the_answer_to_a_call_with_the_present_token_loses_the_channel(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    connect_again(channel)
    message = a_message(a_conversation(channel), "Hi #190")

    start_sender()

    assert ended(message).error_code == "190"
    until(lambda: status_of(channel) == "error")
