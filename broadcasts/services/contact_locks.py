"""What broadcasts hold of contacts that are about to be merged or removed: locked before the contacts.

Readers of statuses lock in this order, too: broadcasts, their recipients, and then who wants no more marketing.
"""

from collections.abc import Collection
from typing import Any, Final

from django.db import connection

from broadcasts.services.audience.locking import hold_preparation
from workspaces.contacts.services import ContactLockHandler

# Those whose choice of contacts changes with them, and those in which one of them may take another's place.
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
# By the recipients' key: a contact stands in few broadcasts, all of them its workspace's.
LOCK_RECIPIENTS: Final = """
SELECT FROM broadcasts_broadcast broadcast
JOIN broadcasts_recipient recipient ON recipient.broadcast_id = broadcast.id AND recipient.contact_id = ANY (%(ids)s)
WHERE broadcast.workspace_id = ANY (ARRAY (SELECT workspace_id FROM contacts_contact WHERE id = ANY (%(ids)s)))
    AND broadcast.started_at IS NOT NULL
ORDER BY recipient.broadcast_id, recipient.contact_id FOR NO KEY UPDATE OF recipient
"""


def lock_recipients_of(contacts: Collection[int]) -> None:
    """Hold contacts' recipients, before them the broadcasts that may change with them, and first of all preparation."""
    values: dict[str, Any] = {"ids": list(contacts)}
    for contact in sorted(contacts):
        hold_preparation(contact)
    with connection.cursor() as cursor:
        cursor.execute(LOCK_BROADCASTS, values)
        cursor.execute(LOCK_RECIPIENTS, values)


LOCK_HANDLER = ContactLockHandler("broadcasts", lock_recipients_of)
