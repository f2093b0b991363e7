"""Measures how a mass of recipients delays a small broadcast, broadcasts of forty zones on the hour, and an answer."""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Max, Min
from django.utils import timezone

from agency.actors import SYSTEM
from benchmarks.broadcasts.rows import broadcasts, people
from benchmarks.broadcasts.senders import make_due, put_off, senders, sent, wait_until
from benchmarks.figures import Figure
from benchmarks.processes import Broken, fast_provider
from benchmarks.sending.queue import numbers
from benchmarks.servers import Bench
from broadcasts.models import Broadcast, Recipient
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services.content import Content
from workspaces.conversations.services.sending import send_message
from workspaces.subaccounts.models import Channel

MASS, NUMBERS, SENDERS = 60_000, 4, 2
SMALL, ZONES, OF_A_ZONE, ANSWERS = 100, 40, 25, 10
WARM = 2_000
PATIENCE_SECONDS = 20.0
MOST_SMALL, MOST_ZONE, MOST_ANSWER = 2_000, 2_000, 1_000
TITLE = (
    f"Fairness: milliseconds that others wait while {MASS:,} recipients of one broadcast are due and two senders are\n"
    "busy with them, without pacing, everything on the same cores. All on the mass's own number, or on another."
)
ADD = """
INSERT INTO broadcasts_recipient (broadcast_id, contact_id, due_at, stage, tries, status, address_kind, address,
    timezone, values, created_at)
SELECT %(broadcast)s, id, now(), 0, 0, 'pending', 'phone', phone, 'Europe/Berlin', jsonb_build_array(name), now()
FROM contacts_contact WHERE workspace_id = %(workspace)s ORDER BY id LIMIT %(number)s
"""


def run(_: Bench) -> list[Figure]:
    channels = numbers(NUMBERS, NUMBERS)
    people(channels[:1], MASS)
    people(channels[1:], 4 * SMALL)
    [mass] = broadcasts(channels[:1], MASS)
    put_off()
    found: list[Figure] = []
    with fast_provider() as url, senders(SENDERS, url):
        make_due()
        wait_until(lambda: sent() > WARM, PATIENCE_SECONDS)
        found += _small(mass, channels)
        found += _zones(mass, channels)
        found += _answers(channels)
        left = MASS - sent()
    if Recipient.objects.of(mass).filter(status="pending").count() < SMALL:
        raise Broken("The mass was over before the others were through: make it larger.")
    return [*found, Figure(name="of the mass were left in the end", measured=left, unit="")]


def _small(mass: Broadcast, channels: Sequence[Channel]) -> Iterator[Figure]:
    for name, channel in (("the mass's own number", channels[0]), ("another number", channels[1])):
        one = _add(mass, channel, SMALL)
        now = timezone.now()
        _begin([one], now)
        ends = _ends([one])
        yield Figure(
            name=f"a broadcast to {SMALL} on {name}, the last of them",
            measured=_milliseconds(now, ends[one.pk][1]),
            unit="ms",
            at_most=MOST_SMALL,
        )


def _zones(mass: Broadcast, channels: Sequence[Channel]) -> Iterator[Figure]:
    zones = [_add(mass, channels[number % NUMBERS], OF_A_ZONE) for number in range(ZONES)]
    at = timezone.now() + timedelta(seconds=1)
    _begin(zones, at)
    ends = _ends(zones)
    early = min(_milliseconds(at, first) for first, _ in ends.values())
    if early < 0:
        raise Broken("A zone was sent to before its time.")
    yield Figure(
        name=f"the first of each of {ZONES} zones after their moment, the latest",
        measured=max(_milliseconds(at, first) for first, _ in ends.values()),
        unit="ms",
        at_most=MOST_ZONE,
    )


def _answers(channels: Sequence[Channel]) -> Iterator[Figure]:
    waits = []
    for number in range(ANSWERS):
        channel = channels[number % 2]
        message = _answer(channel, number)
        wait_until(lambda pk=message.pk: Message.objects.get(pk=pk).status != "pending", PATIENCE_SECONDS)  # type: ignore[misc]
        message.refresh_from_db()
        if message.sent_at is None:
            raise Broken("An answer was not sent.")
        waits.append(_milliseconds(message.created_at, message.sent_at))
        time.sleep(0.1)
    yield Figure(
        name=f"the longest of {ANSWERS} answers in conversations of both numbers",
        measured=max(waits),
        unit="ms",
        at_most=MOST_ANSWER,
    )


def _answer(channel: Channel, number: int) -> Message:
    contact = Contact.objects.filter(workspace=channel.workspace).order_by("-pk")[number]
    ContactIdentity.objects.create(
        contact=contact, workspace=channel.workspace, channel=channel, external_id=(contact.phone or "").lstrip("+")
    )
    now = timezone.now()
    conversation = Conversation.objects.create(
        workspace=channel.workspace, channel=channel, contact=contact, last_inbound_at=now
    )
    return send_message(conversation=conversation, content=Content("Yes, at eight."), by=SYSTEM, now=now)


def _add(mass: Broadcast, channel: Channel, number: int) -> Broadcast:
    """Copy the mass as a broadcast on another channel, to `number` of its workspace's contacts."""
    one = Broadcast.objects.get(pk=mass.pk)
    one.pk, one.uuid = None, Broadcast._meta.get_field("uuid").get_default()
    one.channel, one.workspace, one.next_due_at = channel, channel.workspace, None
    one.status = Broadcast.Status.PAUSED
    one.save()
    values = {"broadcast": one.pk, "workspace": channel.workspace_id, "number": number}
    with connection.cursor() as cursor:
        cursor.execute(ADD, values)
    return one


def _begin(found: Sequence[Broadcast], at: datetime) -> None:
    """Make the broadcasts due at a time."""
    ids = [one.pk for one in found]
    Recipient.objects.filter(broadcast_id__in=ids).update(due_at=at)
    Broadcast.objects.filter(pk__in=ids).update(status=Broadcast.Status.SENDING, next_due_at=at)


def _ends(found: Sequence[Broadcast]) -> dict[int, tuple[datetime, datetime]]:
    """Wait until all are sent; give the times of each broadcast's first and last message."""
    rows = Recipient.objects.filter(broadcast_id__in=[one.pk for one in found])
    wait_until(lambda: not rows.filter(sent_at=None).exists(), PATIENCE_SECONDS)
    times = rows.values("broadcast_id").annotate(first=Min("sent_at"), last=Max("sent_at"))
    return {one["broadcast_id"]: (one["first"], one["last"]) for one in times}


def _milliseconds(since: datetime, until: datetime) -> float:
    return (until - since).total_seconds() * 1000
