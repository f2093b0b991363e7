"""What broadcasts do when a contact is removed, or two become one."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from django.db import connection
from django.utils import timezone

from broadcasts import events
from broadcasts.models import Recipient, Stage
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recipient_events import record_recipient_events
from workspaces.contacts.services import ContactMergeHandler, ContactRemovalHandler

# A contact stands in few broadcasts, but only the workspace's own have to be asked: by the recipients' key.
LOCK: Final = """
SELECT recipient.broadcast_id, recipient.contact_id, recipient.stage, recipient.status,
    recipient.address IS NULL AND recipient.skip_reason IN ('no_address', 'duplicate_address')
FROM broadcasts_broadcast broadcast
JOIN broadcasts_recipient recipient ON recipient.broadcast_id = broadcast.id AND recipient.contact_id = ANY (%(ids)s)
WHERE broadcast.workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
    AND broadcast.started_at IS NOT NULL
ORDER BY recipient.broadcast_id, recipient.contact_id
FOR NO KEY UPDATE OF recipient
"""
SKIP: Final = """
UPDATE broadcasts_recipient recipient SET stage = {done}, status = 'skipped', skip_reason = %s
FROM unnest(%s::bigint[], %s::bigint[]) AS told (broadcast_id, contact_id)
WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
"""
ERASE: Final = """
UPDATE broadcasts_recipient
SET address = NULL, address_kind = NULL, values = NULL, timezone = NULL, error_message = NULL, error_details = NULL,
    is_counted = false
WHERE broadcast_id = ANY (%s) AND contact_id = %s
"""
MOVE: Final = "UPDATE broadcasts_recipient SET contact_id = %s WHERE broadcast_id = ANY (%s) AND contact_id = %s"
# Those that are still to be prepared name the contacts that were chosen for them.
RENAME: Final = """
UPDATE broadcasts_broadcast SET chosen_contacts = {changed}
WHERE workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
    AND chosen_contacts @> ARRAY[%(contact)s::bigint] AND NOT is_prepared
"""
WAITING: Final = (Stage.READY, Stage.HELD)
LEFT: Final = (Stage.CLAIMED, Stage.UNKNOWN)
REACHED: Final = (Recipient.Status.SENT, Recipient.Status.DELIVERED, Recipient.Status.READ)


class Found(NamedTuple):
    """A contact's row in a broadcast; `was_unreachable` where preparation found no address of its own for it."""

    broadcast: int
    contact: int
    stage: int
    status: str
    was_unreachable: bool

    @property
    def waits(self) -> bool:
        return self.stage in WAITING

    @property
    def may_have_got_it(self) -> bool:
        return self.stage in LEFT or self.status in REACHED


def forget_contact(contact: int) -> None:
    """Erase what broadcasts know of a contact who is removed; those who wait for a message get none."""
    # Whoever tells broadcasts to wait locks them before their recipients, too.
    _execute(RENAME.format(changed="array_remove(chosen_contacts, %(contact)s::bigint)"), {"contact": contact})
    found = _locked(contact)
    _skip([row for row in found if row.waits], Recipient.SkipReason.NO_ADDRESS)
    _execute(ERASE, [[row.broadcast for row in found], contact])


def move_recipients(kept: int, gone: int) -> None:
    """Let one contact get what another was still to get, unless it comes to them in the broadcast anyway.

    What has been sent stays with the number that its network knows it by.
    """
    changed = "array_replace(chosen_contacts, %(contact)s::bigint, %(kept)s::bigint)"
    _execute(RENAME.format(changed=changed), {"contact": gone, "kept": kept})
    found = _locked(gone, kept)
    theirs = {row.broadcast: row for row in found if row.contact == kept}
    leaving = [row for row in found if row.contact == gone]
    moving = [row.broadcast for row in leaving if row.waits and row.broadcast not in theirs]
    changing = [row.broadcast for row in leaving if row.waits and _is_unreachable(theirs.get(row.broadcast))]
    both = [(row, theirs[row.broadcast]) for row in leaving if row.broadcast in theirs]
    twice = [one for pair in both if (one := _one_too_many(*pair))]
    _skip(twice, Recipient.SkipReason.DUPLICATE_ADDRESS)
    _execute(MOVE, [kept, moving, gone])
    # The two rows change places, by way of a number that nobody has.
    for new, old in ((-gone, gone), (gone, kept), (kept, -gone)):
        _execute(MOVE, [new, changing, old])
    _execute(ERASE, [[row.broadcast for row in leaving if row.broadcast not in moving], gone])


def _is_unreachable(row: Found | None) -> bool:
    return row is not None and row.was_unreachable


def _one_too_many(gone: Found, kept: Found) -> Found | None:
    """Give the one of two rows that waits although the other has got it, or is to get it."""
    if gone.waits:
        return None if kept.was_unreachable else gone
    return kept if kept.waits and gone.may_have_got_it else None


def _locked(contact: int, *others: int) -> list[Found]:
    with connection.cursor() as cursor:
        cursor.execute(LOCK, {"contact": contact, "ids": [contact, *others]})
        return [Found._make(row) for row in cursor.fetchall()]


def _skip(rows: Collection[Found], reason: Recipient.SkipReason) -> None:
    if not rows:
        return
    skipped = [(row.broadcast, row.contact) for row in rows]
    _execute(
        SKIP.format(done=Stage.DONE.value), [reason.value, [one for one, _ in skipped], [one for _, one in skipped]]
    )
    record_recipient_events(events.RECIPIENT_SKIPPED, skipped, now=timezone.now())
    add_counts({row.broadcast: {"pending": -1, "skipped": 1, "held": -(row.stage == Stage.HELD)} for row in rows})


def _execute(statement: str, values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


REMOVAL_HANDLER = ContactRemovalHandler(name="broadcasts", remove=forget_contact)
MERGE_HANDLER = ContactMergeHandler(name="broadcasts", move=move_recipients)
