"""Makes facts in bulk, and the rows that they are about."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar

from django.db import connection
from django.utils import timezone

from benchmarks.rows import agency_with
from workspaces.conversations.facts import ChannelReference, MessageReceived, Person, StatusChanged
from workspaces.subaccounts.models import Channel, Workspace

Item = TypeVar("Item")
CHANNELS, PEOPLE = 20, 500

SENT = """
INSERT INTO conversations_message (uuid, workspace_id, channel_id, conversation_id, direction, type, text, status,
    provider_message_id, sent_elsewhere, sent_by_kind, sent_by_label, provider_time, created_at, sent_at)
SELECT gen_random_uuid(), conversation.workspace_id, conversation.channel_id, conversation.id, 'out', 'text',
    'Your table is booked for eight. See you then!', 'sent', 'wamid.' || md5(conversation.id || '-' || n), false,
    'workspace_key', 'Shop', now(), now(), now()
FROM generate_series(1, %s) n CROSS JOIN (SELECT * FROM conversations_conversation ORDER BY id) conversation
RETURNING channel_id, provider_message_id
"""


def channels(count: int = CHANNELS) -> list[ChannelReference]:
    """Make an agency with so many workspaces, each with one channel."""
    agency, _ = agency_with(count)
    found = []
    for number, workspace in enumerate(Workspace.objects.of(agency).order_by("pk")):
        external = f"4{agency.pk:05}{number:05}"
        channel = Channel.objects.create(
            workspace=workspace, platform="whatsapp", external_id=external, name="Bench", handle=external
        )
        found.append(
            ChannelReference(
                id=channel.pk,
                platform="whatsapp",
                workspace_id=workspace.pk,
                workspace_uuid=workspace.uuid,
                agency_id=agency.pk,
            )
        )
    return found


def messages(of: Sequence[ChannelReference], name: str, count: int, *, people: int = PEOPLE) -> list[MessageReceived]:
    """Give texts of all people in turn, so many of each channel, each with a new id."""
    at = timezone.now().replace(microsecond=0)
    return [
        MessageReceived(
            channel=of[number % len(of)],
            person=person(number % (len(of) * people)),
            at=at,
            message_id=f"wamid.{name}-{number:020d}",
            type="text",
            text=f"Do you have a table for {number} tonight, at the window if you can?",
        )
        for number in range(count)
    ]


def person(number: int) -> Person:
    digits = f"49151{number:08d}"
    return Person(external_id=digits, phone=f"+{digits}", name=f"Guest {number}")


def sent_messages(for_each: int) -> list[tuple[int, str]]:
    """Make `for_each` sent messages in each conversation; give the channel and the provider's id of each."""
    with connection.cursor() as cursor:
        cursor.execute(SENT, [for_each])
        rows: list[tuple[int, str]] = cursor.fetchall()
        cursor.execute("VACUUM ANALYZE conversations_message")
    return rows


def statuses(of: Sequence[ChannelReference], sent: Iterable[tuple[int, str]], status: str) -> list[StatusChanged]:
    by_id = {channel.id: channel for channel in of}
    at: datetime = timezone.now() + timedelta(seconds=1)
    nobody = Person()
    return [
        StatusChanged(channel=by_id[channel], person=nobody, at=at, message_id=message, status=status)
        for channel, message in sent
        if channel in by_id
    ]


def batches(facts: Iterable[Item], size: int) -> Iterator[list[Item]]:
    rest = iter(facts)
    while batch := list(islice(rest, size)):
        yield batch
