"""Locks the recipients of contacts that are about to be merged or removed, before the contacts are locked.

Readers of statuses lock in this order too: broadcasts, their recipients, then contacts who want no more marketing.
"""

from collections.abc import Collection
from typing import Any, Final

from django.db import connection

from broadcasts.services.audience.locking import hold_preparation
from workspaces.contacts.services import ContactLockHandler

# Broadcasts whose chosen contacts change, and broadcasts in which one of the contacts may take another's place.
LOCK_BROADCASTS: Final = """
SELECT FROM broadcasts_broadcast broadcast
WHERE workspace_id = ANY (ARRAY (SELECT workspace_id FROM contacts_contact WHERE id = ANY (%(ids)s)))
    AND ((chosen_contacts && %(ids)s::bigint[] AND NOT is_prepared)
    OR (status IN ('sending', 'paused') AND (
        SELECT count(*) FROM broadcasts_recipient
        WHERE broadcast_id = broadcast.id AND contact_id = ANY (%(ids)s)
    ) BETWEEN 1 AND cardinality(%(ids)s::bigint[]) - 1))
ORDER BY id FOR NO KEY UPDATE
"""
# Recipients are found by their key: a contact is in few broadcasts, all in its workspace.
LOCK_RECIPIENTS: Final = """
SELECT FROM broadcasts_broadcast broadcast
JOIN broadcasts_recipient recipient ON recipient.broadcast_id = broadcast.id AND recipient.contact_id = ANY (%(ids)s)
WHERE broadcast.workspace_id = ANY (ARRAY (SELECT workspace_id FROM contacts_contact WHERE id = ANY (%(ids)s)))
    AND broadcast.started_at IS NOT NULL
ORDER BY recipient.broadcast_id, recipient.contact_id FOR NO KEY UPDATE OF recipient
"""


def lock_recipients_of(contacts: Collection[int]) -> None:
    """Stop preparation, then lock the broadcasts that may change with these contacts, then the contacts' recipients."""
    values: dict[str, Any] = {"ids": list(contacts)}
    for contact in sorted(contacts):
        hold_preparation(contact)
    with connection.cursor() as cursor:
        cursor.execute(LOCK_BROADCASTS, values)
        cursor.execute(LOCK_RECIPIENTS, values)


LOCK_HANDLER = ContactLockHandler("broadcasts", lock_recipients_of)
