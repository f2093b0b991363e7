"""Writes broadcasts under way in bulk, with recipients as preparation leaves them."""

from collections.abc import Sequence

from django.db import connection
from django.utils import timezone

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast
from workspaces.subaccounts.models import Channel

FROZEN = FrozenMessage(
    template={
        "name": "order_ready",
        "language": "en_US",
        "components": [
            {
                "type": "body",
                "parameters": [{"type": "text", "text": "{{ contact.name }}"}, {"type": "text", "text": "Tuesday"}],
            }
        ],
    },
    variables=("contact.name",),
)
EMPTY = """
TRUNCATE broadcasts_recipient, broadcasts_broadcastcount, broadcasts_billedcount, channelconnect_senderrun,
    channelconnect_sendershard, channelconnect_allowance, channelconnect_allowanceuse
"""
CONTACTS = """
INSERT INTO contacts_contact (uuid, workspace_id, name, phone, search_key, tags, created_at, updated_at)
SELECT gen_random_uuid(), %(workspace)s, 'Person ' || n, '+49170' || lpad(n::text, 7, '0'), 'person', '{}', now(), now()
FROM generate_series(1, %(number)s) n
"""
RECIPIENTS = """
INSERT INTO broadcasts_recipient (broadcast_id, contact_id, due_at, stage, tries, status, address_kind, address,
    timezone, values, created_at)
SELECT %(broadcast)s, id, now(), 0, 0, 'pending', 'phone', phone, 'Europe/Berlin', jsonb_build_array(name), now()
FROM contacts_contact WHERE workspace_id = %(workspace)s ORDER BY id LIMIT %(number)s
"""
# A sender changes each row twice, so each row gets a second and a third version.
CLAIM = """
UPDATE broadcasts_recipient SET stage = 1, run = 7, claimed_at = now()
WHERE broadcast_id = %(broadcast)s AND contact_id BETWEEN %(first)s AND %(last)s
"""
SENT = """
UPDATE broadcasts_recipient SET stage = 4, run = NULL, status = 'sent', sent_at = now(),
    provider_message_id = 'wamid.HBgLNDkxNzAwMDAwMDAVAgASGBQzQ' || lpad(contact_id::text, 20, '0')
WHERE broadcast_id = %(broadcast)s AND contact_id BETWEEN %(first)s AND %(last)s
"""
KEYS = "SELECT broadcast_id, contact_id FROM broadcasts_recipient ORDER BY broadcast_id, contact_id"
BATCH = 256


def people(channels: Sequence[Channel], number: int) -> None:
    """Give each channel's workspace `number` contacts."""
    with connection.cursor() as cursor:
        for channel in channels:
            cursor.execute(CONTACTS, {"workspace": channel.workspace_id, "number": number})
        cursor.execute("ANALYZE contacts_contact")


def broadcasts(channels: Sequence[Channel], recipients: int) -> list[Broadcast]:
    """Write a broadcast of each channel to `recipients` of its workspace's contacts; delete all other broadcasts."""
    Broadcast.objects.all().delete()
    now = timezone.now()
    found = [
        Broadcast.objects.create(
            workspace=channel.workspace,
            channel=channel,
            name="News",
            message={"template": "order_ready"},
            frozen=FROZEN.as_json(),
            status="sending",
            started_at=now,
            next_due_at=now,
            last_contact=2**62,
            is_prepared=True,
            created_by_kind="system",
            created_by_label="Bench",
        )
        for channel in channels
    ]
    with connection.cursor() as cursor:
        cursor.execute(EMPTY)
        for one in found:
            values = {"broadcast": one.pk, "workspace": one.workspace_id, "number": recipients}
            cursor.execute(RECIPIENTS, values)
        cursor.execute("VACUUM ANALYZE broadcasts_recipient")
        cursor.execute("CHECKPOINT")
    return found


def send_all() -> list[tuple[int, int]]:
    """Mark all recipients as sent, batch by batch as a sender does; give their keys."""
    with connection.cursor() as cursor:
        cursor.execute(KEYS)
        keys: list[tuple[int, int]] = cursor.fetchall()
        for first in range(0, len(keys), BATCH):
            batch = keys[first : first + BATCH]
            for broadcast in {key[0] for key in batch}:
                contacts = [key[1] for key in batch if key[0] == broadcast]
                values = {"broadcast": broadcast, "first": contacts[0], "last": contacts[-1]}
                cursor.execute(CLAIM, values)
                cursor.execute(SENT, values)
    return keys
