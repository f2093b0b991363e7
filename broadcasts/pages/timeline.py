"""The broadcasts of a contact's timeline."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.urls import reverse
from django.utils.translation import gettext as _

from broadcasts.models import Recipient
from workspaces.contacts.models import Contact
from workspaces.contacts.pages import TimelineEntry

# Only so many of a workspace's newest broadcasts are searched, each by the recipients' key.
MOST_BROADCASTS: Final = 500
RECEIVED: Final = """
SELECT broadcast.uuid, broadcast.name, recipient.status, recipient.at
FROM (
    SELECT id, uuid, name FROM broadcasts_broadcast
    WHERE workspace_id = %(workspace)s AND started_at IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT %(searched)s
) AS broadcast
CROSS JOIN LATERAL (
    SELECT status, coalesce(sent_at, claimed_at, failed_at, created_at) AS at FROM broadcasts_recipient
    WHERE broadcast_id = broadcast.id AND contact_id = %(contact)s
        AND status IN ('sent', 'delivered', 'read', 'failed')
) AS recipient
WHERE recipient.at < %(before)s
ORDER BY recipient.at DESC, broadcast.id DESC LIMIT %(most)s
"""


def broadcasts_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest broadcasts that were sent to a contact before a moment, each with what became of it."""
    values: dict[str, Any] = {
        "workspace": contact.workspace_id,
        "contact": contact.pk,
        "before": before,
        "searched": MOST_BROADCASTS,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(RECEIVED, values)
        rows: list[tuple[UUID, str, str, datetime]] = cursor.fetchall()
    return [
        TimelineEntry(
            at=at,
            icon="broadcast",
            title=_("Broadcast: %(name)s") % {"name": name},
            state=str(Recipient.Status(status).label),
            url=reverse("app:broadcast", args=[uuid]),
        )
        for uuid, name, status, at in rows
    ]
