"""What broadcasts do when a contact is removed, or two become one."""

from collections.abc import Collection
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from broadcasts import events
from broadcasts.models import Recipient, Stage
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recipient_events import record_recipient_events
from workspaces.contacts.services import ContactMergeHandler, ContactRemovalHandler

# A contact stands in few broadcasts, but only the workspace's own have to be asked: by the recipients' key.
LOCK: Final = """
SELECT recipient.broadcast_id, recipient.stage,
    EXISTS (SELECT FROM broadcasts_recipient other
        WHERE other.broadcast_id = recipient.broadcast_id AND other.contact_id = %(kept)s)
FROM broadcasts_broadcast broadcast
JOIN broadcasts_recipient recipient ON recipient.broadcast_id = broadcast.id AND recipient.contact_id = %(contact)s
WHERE broadcast.workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
    AND broadcast.started_at IS NOT NULL
ORDER BY recipient.broadcast_id
FOR NO KEY UPDATE OF recipient
"""
SKIP: Final = """
UPDATE broadcasts_recipient SET stage = {done}, status = 'skipped', skip_reason = %s
WHERE broadcast_id = ANY (%s) AND contact_id = %s
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


def forget_contact(contact: int) -> None:
    """Erase what broadcasts know of a contact who is removed; those who wait for a message get none."""
    found = _locked(contact, kept=0)
    _skip(contact, [row for row in found if row[1] in WAITING], Recipient.SkipReason.NO_ADDRESS)
    _execute(ERASE, [[row[0] for row in found], contact])
    _execute(RENAME.format(changed="array_remove(chosen_contacts, %(contact)s::bigint)"), {"contact": contact})


def move_recipients(kept: int, gone: int) -> None:
    """Let one contact get what another was still to get, unless they stand in the broadcast themselves.

    What has been sent stays with the number that its network knows it by.
    """
    found = _locked(gone, kept=kept)
    waiting = [row for row in found if row[1] in WAITING]
    _skip(gone, [row for row in waiting if row[2]], Recipient.SkipReason.DUPLICATE_ADDRESS)
    moving = [row[0] for row in waiting if not row[2]]
    _execute(MOVE, [kept, moving, gone])
    _execute(ERASE, [[row[0] for row in found if row[0] not in moving], gone])
    changed = "array_replace(chosen_contacts, %(contact)s::bigint, %(kept)s::bigint)"
    _execute(RENAME.format(changed=changed), {"contact": gone, "kept": kept})


def _locked(contact: int, *, kept: int) -> list[tuple[int, int, bool]]:
    with connection.cursor() as cursor:
        cursor.execute(LOCK, {"contact": contact, "kept": kept})
        rows: list[tuple[int, int, bool]] = cursor.fetchall()
    return rows


def _skip(contact: int, rows: Collection[tuple[int, int, bool]], reason: Recipient.SkipReason) -> None:
    if not rows:
        return
    broadcasts = [row[0] for row in rows]
    _execute(SKIP.format(done=Stage.DONE.value), [reason.value, broadcasts, contact])
    skipped = [(broadcast, contact) for broadcast in broadcasts]
    record_recipient_events(events.RECIPIENT_SKIPPED, skipped, now=timezone.now())
    add_counts(
        {broadcast: {"pending": -1, "skipped": 1, "held": -(stage == Stage.HELD)} for broadcast, stage, _ in rows}
    )


def _execute(statement: str, values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


REMOVAL_HANDLER = ContactRemovalHandler(name="broadcasts", remove=forget_contact)
MERGE_HANDLER = ContactMergeHandler(name="broadcasts", move=move_recipients)
