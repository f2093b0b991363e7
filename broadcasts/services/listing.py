"""Adds progress and contacts to lists of broadcasts and recipients, and finds the start of a page of recipients."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection
from django.utils import timezone
from psycopg.rows import TupleRow

from broadcasts.models import Broadcast, BroadcastQuerySet, Recipient, RecipientChunk
from broadcasts.services.counts import counts_of
from config.postgresql.arrays import integers
from config.wall_clock import instant_of
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message
from workspaces.subaccounts.models import Workspace

# Only this many of the newest are looked at.
MOST_LOOKED_AT = 20


def has_sent(workspace: Workspace) -> bool:
    """Say whether a broadcast has begun, or a conversation has an outgoing message. It takes two statements."""
    begun = Broadcast.objects.filter(workspace=workspace).order_by("-created_at", "-id")[:MOST_LOOKED_AT]
    if any(started_at is not None for started_at in begun.values_list("started_at", flat=True)):
        return True
    conversations = Conversation.objects.of(workspace).newest_activity_first().values("pk")[:MOST_LOOKED_AT]
    return Message.objects.filter(conversation__in=conversations, direction="out").exists()


# The search adds up the chunks' numbers and walks at most one chunk, whatever the broadcast's size. Every change of a
# broadcast's recipients either changes its chunks in the same transaction, or leaves their sum too small. Chunks whose
# sum is too small are not used.

# Chunks are added up from the newest. Empty chunks are passed over.
FIND: Final = """
SELECT up_to, newer FROM (
    SELECT up_to, sum(number) OVER newest - number AS newer, sum(number) OVER () AS total
    FROM broadcasts_recipientchunk WHERE broadcast_id = %(broadcast)s WINDOW newest AS (ORDER BY up_to DESC)
) AS chunk
WHERE total = %(total)s AND newer <= %(offset)s ORDER BY up_to LIMIT 1
"""
# A contact belongs to the first chunk that reaches its id. A contact after all of them becomes a chunk, unless
# preparation still reaches it.
ADD: Final = """
INSERT INTO broadcasts_recipientchunk AS chunk (broadcast_id, up_to, number)
SELECT broadcast.id, coalesce(reached.up_to, %(contact)s), %(number)s
FROM broadcasts_broadcast broadcast
LEFT JOIN LATERAL (
    SELECT up_to FROM broadcasts_recipientchunk
    WHERE broadcast_id = broadcast.id AND up_to >= %(contact)s ORDER BY up_to LIMIT 1
) AS reached ON true
WHERE broadcast.id = ANY (%(broadcasts)s::bigint[])
    AND (reached.up_to IS NOT NULL OR (broadcast.is_prepared AND %(number)s > 0))
ON CONFLICT (broadcast_id, up_to) DO UPDATE SET number = chunk.number + excluded.number
"""


def add_chunk(broadcast: int, *, up_to: int, number: int) -> None:
    """Write a chunk's number of recipients, in the transaction that writes them."""
    if number:
        RecipientChunk.objects.create(broadcast_id=broadcast, up_to=up_to, number=number)


def add_to_chunks(broadcasts: Collection[int], *, contact: int, number: int) -> None:
    """Record that a contact became a recipient of broadcasts that had passed it (1), or no longer is one (-1)."""
    if broadcasts:
        _execute(ADD, {"broadcasts": list(broadcasts), "contact": contact, "number": number})


def find_chunk_of_page(broadcast: int, *, offset: int, total: int) -> tuple[int, int] | None:
    """Find the chunk with the recipient at `offset`, counted from the newest; None if the chunks cannot tell.

    Returns the chunk's highest contact id, and the number of recipients newer than the chunk.
    """
    row = _execute(FIND, {"broadcast": broadcast, "offset": offset, "total": total}, is_read=True)
    return None if row is None else (int(row[0]), int(row[1]))


def _execute(statement: str, values: dict[str, int | list[int]], *, is_read: bool = False) -> TupleRow | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: TupleRow | None = cursor.fetchone() if is_read else None
        return row


# The zone that reaches a wall clock last.
LAST_ZONE: Final = "Etc/GMT+12"
# The moments at which waiting recipients are due, read by the indexes of waiting recipients.
WAVES: Final = """
SELECT one.id,
    least((SELECT min(due_at) FROM broadcasts_recipient WHERE broadcast_id = one.id AND stage = 0 AND due_at > %(now)s),
        (SELECT min(due_at) FROM broadcasts_recipient WHERE broadcast_id = one.id AND stage = 3 AND due_at > %(now)s)),
    greatest((SELECT max(due_at) FROM broadcasts_recipient WHERE broadcast_id = one.id AND stage = 0),
        (SELECT max(due_at) FROM broadcasts_recipient WHERE broadcast_id = one.id AND stage = 3))
FROM unnest(%(ids)s::bigint[]) AS one (id)
"""
# Deep pages are read from the nearer end, so the last page costs no more than the first.
PAGE: Final = """
SELECT contact_id FROM broadcasts_recipient WHERE broadcast_id = %(broadcast)s {kept}
ORDER BY contact_id {order} OFFSET %(offset)s LIMIT %(size)s
"""
# A page of all recipients that is farther than this from both ends is found through their chunks.
NEAR: Final = 500
PAGE_OF_CHUNK: Final = """
SELECT contact_id FROM broadcasts_recipient WHERE broadcast_id = %(broadcast)s AND contact_id <= %(up_to)s
ORDER BY contact_id DESC OFFSET %(offset)s LIMIT %(size)s
"""
# Statuses that few recipients may have are read by their partial indexes. Any other status turns up soon enough.
KEPT: Final = {
    Recipient.Status.FAILED.value: "AND failed_at IS NOT NULL AND status = 'failed'",
    Recipient.Status.SKIPPED.value: "AND skip_reason IS NOT NULL",
}
# Up to this many pending recipients are read as the recipients with work left. The indexes of claimed and of unknown
# recipients cover all broadcasts.
FEW: Final = 10_000
PENDING: Final = """
WITH open AS MATERIALIZED (
    SELECT contact_id FROM broadcasts_recipient WHERE broadcast_id = %(broadcast)s AND stage = 0
    UNION ALL SELECT contact_id FROM broadcasts_recipient WHERE broadcast_id = %(broadcast)s AND stage = 3
    UNION ALL SELECT contact_id FROM broadcasts_recipient
        WHERE broadcast_id = %(broadcast)s AND stage = 1 AND status = 'pending'
    UNION ALL SELECT contact_id FROM broadcasts_recipient
        WHERE broadcast_id = %(broadcast)s AND stage = 2 AND status = 'pending'
)
SELECT contact_id FROM open ORDER BY contact_id {order} OFFSET %(offset)s LIMIT %(size)s
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """A broadcast's progress. `audience` names its contacts by their public ids."""

    counts: dict[str, int]
    audience: dict[str, object] | None
    next_wave_at: datetime | None
    last_wave_at: datetime | None

    @property
    def held_count(self) -> int:
        return self.counts["held"]

    @property
    def clicks_count(self) -> int:
        return self.counts["clicked"]


def joined(rows: BroadcastQuerySet) -> BroadcastQuerySet:
    """Join the other tables that a broadcast's representation reads."""
    return rows.select_related("workspace", "channel", "source_broadcast")


def begun_broadcasts(workspace: Workspace) -> BroadcastQuerySet:
    """Return the workspace's broadcasts that have begun, the newest first."""
    return Broadcast.objects.of(workspace).filter(started_at__isnull=False).newest_first()


# The contact is looked up in so many of the workspace's newest broadcasts, by the recipients' key.
MOST_SEARCHED: Final = 500


@dataclass(frozen=True, slots=True)
class ReceivedBroadcasts:
    """The keys of the broadcasts that a contact was sent; `is_capped` if older broadcasts were not searched."""

    broadcasts: Sequence[int]
    is_capped: bool


def received_by(contact: Contact) -> ReceivedBroadcasts:
    """Find the broadcasts whose recipient the contact is, without those that skipped the contact."""
    newest = list(begun_broadcasts(contact.workspace).values_list("pk", flat=True)[: MOST_SEARCHED + 1])
    rows = Recipient.objects.filter(broadcast_id__in=newest[:MOST_SEARCHED], contact_id=contact.pk)
    found = rows.exclude(status=Recipient.Status.SKIPPED).values_list("broadcast_id", flat=True)
    return ReceivedBroadcasts(list(found), len(newest) > MOST_SEARCHED)


def with_progress(
    broadcasts: Iterable[Broadcast], *, now: datetime | None = None, is_list: bool = True
) -> list[Broadcast]:
    """Look up the progress of broadcasts into `progress`, with two statements for all of them.

    A list leaves out the chosen contacts: a broadcast may have ten thousand.
    """
    some = list(broadcasts)
    counts, waves = counts_of(some), _waves_of(some, now or timezone.now())
    for one in some:
        next_at, last_at = waves.get(one.pk, (None, None))
        one.progress = Progress(counts[one.pk], _audience(one, is_list=is_list), next_at, last_at)
    return some


def shown_broadcast(broadcast: Broadcast) -> Broadcast:
    """Re-read a broadcast with everything that its representation needs."""
    return with_progress(joined(Broadcast.objects.filter(pk=broadcast.pk)), is_list=False)[0]


def recipients_page(broadcast: Broadcast, *, status: str | None, offset: int, size: int) -> tuple[list[Recipient], int]:
    """Return a page of a broadcast's recipients, newest first, and their number, which is kept and not counted."""
    counts = counts_of([broadcast])[broadcast.pk]
    total = counts[status] if status else sum(counts[one] for one in Recipient.Status.values)
    size = min(size, total - offset)
    if size <= 0:
        return [], max(total, 0)
    contacts = _page(broadcast.pk, status, offset, size, total)
    rows = Recipient.objects.of(broadcast).filter(contact_id__in=contacts).newest_first()
    return with_contacts(list(rows)), total


def with_contacts(recipients: Sequence[Recipient]) -> list[Recipient]:
    """Look up recipients' contacts into `contact`; None for a deleted contact."""
    contacts = Contact.objects.in_bulk({one.contact_id for one in recipients})
    for one in recipients:
        one.contact = contacts.get(one.contact_id)
    return list(recipients)


def _page(broadcast: int, status: str | None, offset: int, size: int, total: int) -> list[int]:
    behind = total - offset - size
    chunk = None
    if status is None and min(offset, behind) > NEAR:
        chunk = find_chunk_of_page(broadcast, offset=offset, total=total)
    if chunk is not None:
        up_to, newer = chunk
        place = {"broadcast": broadcast, "up_to": up_to, "offset": offset - newer, "size": size}
        return _contacts(PAGE_OF_CHUNK, place)
    is_nearer_end = behind < offset
    order = "ASC" if is_nearer_end else "DESC"
    statement = PENDING if status == Recipient.Status.PENDING and total <= FEW else PAGE
    kept = KEPT.get(status, "AND status = %(status)s") if status else ""
    offset = behind if is_nearer_end else offset
    values = {"broadcast": broadcast, "status": status, "offset": offset, "size": size}
    return _contacts(statement.format(kept=kept, order=order), values)


def _contacts(statement: str, values: Mapping[str, int | str | None]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [contact for (contact,) in cursor.fetchall()]


def _waves_of(broadcasts: Collection[Broadcast], now: datetime) -> dict[int, tuple[datetime | None, datetime | None]]:
    waves = {one.pk: (one.due_at, _last_moment(one)) for one in broadcasts if one.status == Broadcast.Status.SCHEDULED}
    under_way = [one.pk for one in broadcasts if one.is_under_way]
    if under_way:
        with connection.cursor() as cursor:
            cursor.execute(WAVES, {"now": now, "ids": integers(under_way)})
            waves |= {pk: (next_at, last_at) for pk, next_at, last_at in cursor.fetchall()}
    return waves


def _last_moment(broadcast: Broadcast) -> datetime | None:
    """Return when a scheduled broadcast may reach the last of its contacts."""
    if broadcast.scheduled_local_at is None:
        return broadcast.due_at
    return instant_of(datetime.fromisoformat(broadcast.scheduled_local_at), LAST_ZONE)


def _audience(broadcast: Broadcast, *, is_list: bool) -> dict[str, object] | None:
    if broadcast.audience is None:
        return None
    chosen = broadcast.chosen_contacts
    contacts = _public_ids(chosen) if chosen is not None and not is_list else None
    return {
        "type": broadcast.audience["type"],
        "segment": broadcast.audience.get("segment"),
        "contacts": contacts,
        "contacts_count": None if chosen is None else len(chosen),
    }


def _public_ids(contacts: Sequence[int]) -> list[UUID]:
    return list(Contact.objects.filter(pk__in=contacts).order_by("pk").values_list("uuid", flat=True))
