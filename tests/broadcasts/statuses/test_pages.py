"""What Messenger and Instagram tell of broadcasts' messages: echoes settle them, marks of reading move them on."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.models.recipients import callback_data_of
from broadcasts.services.counts import add_counts
from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import read_waiting
from tests.broadcasts.sending.broadcasts import TEXT, a_broadcast, add_recipients, counts, people, rows_as_counts
from tests.channelconnect.inbox.notices import INSTAGRAM, PAGE
from tests.factories import ChannelFactory
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.django_db


def tell(channel: Channel, event: dict[str, Any], *, person: str, is_echo: bool = False) -> None:
    ends = [{"id": person}, {"id": channel.external_id}]
    sender, recipient = reversed(ends) if is_echo else ends
    body = {
        "object": "page" if channel.platform == "facebook" else "instagram",
        "entry": [
            {
                "id": channel.external_id,
                "time": 1_790_000_000_000,
                "messaging": [
                    {"sender": sender, "recipient": recipient, "timestamp": _milliseconds(timedelta()), **event}
                ],
            }
        ],
    }
    store_notice(body=json.dumps(body).encode())
    read_waiting()


def _milliseconds(ago: timedelta) -> int:
    return int((now() - ago).timestamp() * 1000)


def sent(channel: Channel, *ago: timedelta, **fields: Any) -> list[Recipient]:
    """The same person in several broadcasts, sent to so long ago."""
    [contact] = people(channel, 1)
    rows = []
    for number, one in enumerate(ago):
        broadcast = a_broadcast(channel, TEXT, started_at=now() - one - timedelta(minutes=1))
        [row] = add_recipients(broadcast, [contact], kind="id")
        values = {"stage": Stage.DONE, "status": "sent", "sent_at": now() - one, "provider_message_id": f"m_{number}"}
        Recipient.objects.of(broadcast).update(**(values | fields))
        if (values | fields)["status"] == "sent":
            add_counts({broadcast.pk: {"pending": -1, "sent": 1}})
        rows.append(row)
    return rows


def statuses(rows: list[Recipient]) -> list[str]:
    for row in rows:
        row.refresh_from_db()
        broadcast = Broadcast.objects.get(pk=row.broadcast_id)
        assert counts(broadcast) == rows_as_counts(broadcast)
    return [row.status for row in rows]


@pytest.mark.parametrize(("platform", "account"), [("facebook", PAGE), ("instagram", INSTAGRAM)])
def test_an_echo_settles_what_nobody_knows_and_is_no_message_of_the_thread(platform: str, account: str) -> None:
    channel = ChannelFactory.create(platform=platform, external_id=account)
    [row] = rows = sent(
        channel, timedelta(0), stage=Stage.UNKNOWN, status="pending", sent_at=None, provider_message_id=None
    )
    echo = {
        "mid": "m_x",
        "text": "News",
        "is_echo": True,
        "metadata": callback_data_of(row.broadcast_id, row.contact_id),
    }

    for _ in range(2):
        tell(channel, {"message": echo}, person=row.address or "", is_echo=True)

    assert statuses(rows) == ["sent"]
    assert (row.stage, row.provider_message_id) == (Stage.DONE, "m_x")
    assert not Message.objects.exists()


def test_a_read_mark_is_proof_for_a_recipient_whose_echo_came_late() -> None:
    channel = ChannelFactory.create(platform="facebook", external_id=PAGE)
    [row] = rows = sent(
        channel,
        timedelta(0),
        status="failed",
        sent_at=None,
        provider_message_id=None,
        failed_at=now(),
        error_code="send_outcome_unknown",
    )
    add_counts({row.broadcast_id: {"pending": -1, "failed": 1}})
    person = row.address or ""
    read = {"read": {"watermark": _milliseconds(timedelta(seconds=-60))}}
    echo = {
        "mid": "m_x",
        "text": "News",
        "is_echo": True,
        "metadata": callback_data_of(row.broadcast_id, row.contact_id),
    }

    tell(channel, read, person=person)
    assert statuses(rows) == ["failed"]
    tell(channel, {"message": echo}, person=person, is_echo=True)
    assert statuses(rows) == ["failed"]
    tell(channel, {"read": {"watermark": _milliseconds(timedelta(seconds=-61))}}, person=person)
    assert statuses(rows) == ["read"]
    assert (row.error_code, row.failed_at) == (None, None)


def test_messengers_watermark_moves_all_that_went_before_on() -> None:
    channel = ChannelFactory.create(platform="facebook", external_id=PAGE)
    rows = sent(channel, timedelta(days=8), timedelta(days=2), timedelta(hours=1), timedelta(minutes=1))
    person = rows[0].address or ""

    tell(channel, {"delivery": {"watermark": _milliseconds(timedelta(minutes=2))}}, person=person)
    assert statuses(rows) == ["sent", "delivered", "delivered", "sent"]
    tell(channel, {"read": {"watermark": _milliseconds(timedelta(days=1))}}, person=person)
    tell(channel, {"delivery": {"watermark": _milliseconds(timedelta(minutes=2))}}, person="somebody else")
    assert statuses(rows) == ["sent", "read", "delivered", "sent"]


def test_instagrams_seen_names_a_message() -> None:
    channel = ChannelFactory.create(platform="instagram", external_id=INSTAGRAM)
    rows = sent(channel, timedelta(days=2), timedelta(hours=1), timedelta(minutes=1))

    tell(channel, {"read": {"mid": "m_1"}}, person=rows[0].address or "")
    tell(channel, {"read": {"mid": "m_unknown"}}, person=rows[0].address or "")

    assert statuses(rows) == ["read", "read", "sent"]
    assert rows[1].delivered_at == rows[1].read_at


def test_what_was_claimed_before_the_networks_time_has_arrived_whenever_the_answer_came() -> None:
    channel = ChannelFactory.create(platform="facebook", external_id=PAGE)
    claimed = now() - timedelta(seconds=5)
    [first] = sent(channel, timedelta(seconds=1), claimed_at=claimed)
    [again] = sent(channel, timedelta(seconds=1), claimed_at=claimed, tries=1)
    [waiting] = sent(channel, timedelta(0), claimed_at=claimed, stage=Stage.CLAIMED, status="pending", sent_at=None)

    for row in (first, again, waiting):
        mark = {"delivery": {"watermark": _milliseconds(timedelta(seconds=3))}}
        tell(channel, mark, person=row.address or "")

    # Whoever was tried before may have been claimed long before the message left.
    assert statuses([first, again, waiting]) == ["delivered", "sent", "delivered"]


def test_an_echo_corrects_the_time_of_the_senders_clock() -> None:
    channel = ChannelFactory.create(platform="facebook", external_id=PAGE)
    [row] = sent(channel, timedelta(minutes=-1))
    echo = {
        "mid": "m_0",
        "text": "News",
        "is_echo": True,
        "metadata": callback_data_of(row.broadcast_id, row.contact_id),
    }

    tell(channel, {"message": echo}, person=row.address or "", is_echo=True)

    row.refresh_from_db()
    assert row.sent_at
    assert row.sent_at <= now()
