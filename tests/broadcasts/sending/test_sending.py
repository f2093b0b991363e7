"""Recipients get their message once each, and what came of it is recorded and counted."""

from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient
from broadcasts.models.recipients import callback_data_of
from channelconnect.models import SenderRun
from tests.broadcasts.sending.broadcasts import (
    TEXT,
    a_broadcast,
    add_recipients,
    counts,
    has_ended,
    open_window,
    people,
    rows_as_counts,
    wait_until_nobody_is_claimed,
    with_recipients,
)
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_channel
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel


def opaque_ids(broadcast: Broadcast) -> set[str]:
    return {callback_data_of(one.broadcast_id, one.contact_id) for one in Recipient.objects.of(broadcast)}


def test_each_recipient_gets_their_own_message_once(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = with_recipients(channel, 90)

    start_sender(rates=None)

    until(partial(has_ended, broadcast))
    ledger = meta.ledger()
    assert ledger["sent_by_opaque"] == dict.fromkeys(opaque_ids(broadcast), 1)
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 90}
    [one] = [sent for sent in ledger["sent"] if sent["opaque"] == min(opaque_ids(broadcast))]
    recipient = next(row for row in Recipient.objects.of(broadcast) if callback_data_of(*row.pk) == one["opaque"])
    [text] = one["body"]["template"]["components"][0]["parameters"]
    assert (one["to"], text["text"]) == (recipient.address, (recipient.values or [""])[0])
    assert recipient.provider_message_id == one["message_id"]
    assert recipient.sent_at
    assert recipient.claimed_at
    until(lambda: Broadcast.objects.get(pk=broadcast.pk).next_due_at is None)


def test_nobody_is_sent_to_before_their_time(meta: RunningSandbox, channel: Channel, start_sender: StartSender) -> None:
    broadcast = a_broadcast(channel)
    early, late = people(channel, 2)
    add_recipients(broadcast, [early])
    at = now() + timedelta(hours=1)
    add_recipients(broadcast, [late], due_at=at)
    waiting = Recipient.objects.of(broadcast).filter(contact_id=late.pk)

    start_sender()

    until(lambda: Recipient.objects.of(broadcast).filter(status="sent").count() == 1)
    until(lambda: Broadcast.objects.get(pk=broadcast.pk).next_due_at == at)
    wait_for_a_round(SenderRun)
    assert waiting.get().status == "pending"

    at = now()
    waiting.update(due_at=at)
    Broadcast.objects.filter(pk=broadcast.pk).update(next_due_at=at)
    until(partial(has_ended, broadcast))
    sent_at = waiting.get().sent_at
    assert sent_at
    assert sent_at > at


def test_who_may_not_be_written_to_any_more_is_skipped(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = a_broadcast(channel)
    out, no_marketing, late, gone, fine = people(channel, 5)
    add_recipients(broadcast, [out, no_marketing, gone, fine], timezone="Europe/Berlin")
    add_recipients(broadcast, [late], due_at=now() - timedelta(hours=72, seconds=1))
    Contact.objects.filter(pk=out.pk).update(opted_out_at=now(), opt_out_source="api")
    Contact.objects.filter(pk=no_marketing.pk).update(marketing_opted_out_at=now())
    Contact.objects.filter(pk=gone.pk).delete()

    start_sender()

    until(partial(has_ended, broadcast))
    skipped = dict(Recipient.objects.of(broadcast).filter(status="skipped").values_list("contact_id", "skip_reason"))
    reasons = {out: "opted_out", no_marketing: "opted_out", late: "too_late", gone: "no_address"}
    assert skipped == {contact.pk: reason for contact, reason in reasons.items()} | {
        pk: "no_address" for pk in skipped if pk not in {one.pk for one in reasons if one.pk}
    }
    assert Counter(skipped.values()) == {"opted_out": 2, "too_late": 1, "no_address": 1}
    erased = Recipient.objects.of(broadcast).get(skip_reason="no_address")
    assert (erased.address, erased.address_kind, erased.timezone, erased.values) == (None, None, None, None)
    assert Recipient.objects.of(broadcast).get(contact_id=out.pk).address == out.phone
    assert meta.ledger()["sent_total"] == 1
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 1, "skipped": 4}


@pytest.mark.parametrize("platform", ["whatsapp", "facebook", "instagram"])
def test_free_text_goes_only_to_those_who_wrote_within_24_hours(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender, platform: str
) -> None:
    channel = a_channel(a.workspace, meta, platform=platform)
    broadcast = a_broadcast(channel, TEXT)
    inside, outside, never = people(channel, 3)
    add_recipients(broadcast, [inside, outside, never], kind="phone" if platform == "whatsapp" else "id")
    open_window(channel, inside, hours_ago=23.9)
    open_window(channel, outside, hours_ago=24.1)

    start_sender()

    until(partial(has_ended, broadcast))
    ends = dict(Recipient.objects.of(broadcast).values_list("contact_id", "status"))
    assert ends == {inside.pk: "sent", outside.pk: "skipped", never.pk: "skipped"}
    assert set(Recipient.objects.filter(status="skipped").values_list("skip_reason", flat=True)) == {"outside_window"}
    [sent] = meta.ledger()["sent"]
    assert sent["opaque"] == callback_data_of(broadcast.pk, inside.pk)


def test_refusals_fail_the_recipient_and_what_was_not_accepted_goes_later(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = a_broadcast(channel)
    refused, later, fine = people(channel, 3)
    add_recipients(broadcast, [refused, later, fine])
    Recipient.objects.filter(contact_id=refused.pk).update(values=["#131026"])
    Recipient.objects.filter(contact_id=later.pk).update(values=["#131056*1"])

    start_sender()

    until(partial(has_ended, broadcast))
    failed = Recipient.objects.get(contact_id=refused.pk)
    assert (failed.status, failed.error_code) == ("failed", "131026")
    assert failed.error_message == "The message could not be delivered to this person."
    again = Recipient.objects.get(contact_id=later.pk)
    assert (again.status, again.tries) == ("sent", 1)
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 2, "failed": 1}


@pytest.mark.parametrize("code", ["131042", "190"])
def test_what_would_fail_for_everybody_pauses_the_broadcast(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender, code: str
) -> None:
    broadcast = with_recipients(channel, 200)
    Recipient.objects.of(broadcast).update(values=[f"#{code}"])

    start_sender()

    until(lambda: Broadcast.objects.get(pk=broadcast.pk).status == "paused")
    wait_until_nobody_is_claimed()
    broadcast.refresh_from_db()
    channel.refresh_from_db()
    assert broadcast.paused_reason
    assert (code == "190") == (channel.status == "error")
    assert set(Recipient.objects.of(broadcast).values_list("status", flat=True)) == {"pending"}
    assert counts(broadcast) == {"pending": 200}
    Channel.objects.update(status="active")
    Recipient.objects.of(broadcast).update(values=["fine"])
    Broadcast.objects.filter(pk=broadcast.pk).update(status="sending", paused_reason=None)
    until(partial(has_ended, broadcast))
    assert meta.ledger()["sent_by_opaque"] == dict.fromkeys(opaque_ids(broadcast), 1)
