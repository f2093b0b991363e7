"""Broadcasts as their author has scheduled them, and contacts of every kind."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient
from broadcasts.services.counts import counts_of
from broadcasts.services.progress import PreparationLoop
from tests.factories import BODY_PARAMETER, a_message_template
from tests.tenants import Tenant
from workspaces.contacts.models import Contact, ContactIdentity, Segment
from workspaces.conversations.models import Conversation

ALL = {"type": "segment", "segment": "all"}
MANY = """
INSERT INTO contacts_contact (uuid, workspace_id, name, phone, timezone, tags, search_key, created_at, updated_at)
SELECT gen_random_uuid(), %s, 'Person ' || n, '+49151' || lpad((%s + n)::text, 8, '0'), NULL, '{}', '', now(), now()
FROM generate_series(1, %s) AS n
"""


def a_contact(a: Tenant, phone: str | None, **values: Any) -> Contact:
    return Contact.objects.create(workspace=a.workspace, phone=phone, search_key="", **values)


def many_contacts(a: Tenant, number: int, *, since: int = 0) -> None:
    with connection.cursor() as cursor:
        cursor.execute(MANY, [a.workspace.pk, since, number])


def an_identity(contact: Contact, channel: Any, external_id: str | None = None, user_id: str | None = None) -> None:
    ContactIdentity.objects.create(
        contact=contact, workspace_id=contact.workspace_id, channel=channel, external_id=external_id, user_id=user_id
    )


def a_conversation(contact: Contact, channel: Any, *, hours_ago: float) -> None:
    Conversation.objects.create(
        workspace_id=contact.workspace_id,
        channel=channel,
        contact=contact,
        last_inbound_at=now() - timedelta(hours=hours_ago),
    )


def a_segment(a: Tenant, **filter: Any) -> Segment:
    return Segment.objects.create(workspace=a.workspace, name="Some", name_key="some", filter=filter)


def templated(a: Tenant, *, status: str = "approved") -> dict[str, Any]:
    """A message with a template that the channel has, and one parameter."""
    a_message_template(a.channel, text="Hello {{1}}", name="offer", status=status, parameters=[BODY_PARAMETER])
    return filled("Hello")


def filled(text: str) -> dict[str, Any]:
    """The message of that template with this text."""
    body = {"type": "body", "parameters": [{"type": "text", "text": text}]}
    return {"text": None, "template": "offer", "language": "en", "components": [body]}


def scheduled(a: Tenant, **values: Any) -> Broadcast:
    """A broadcast that is due; a text on WhatsApp unless it is said otherwise."""
    kept: dict[str, Any] = {
        "template": None,
        "language": None,
        "components": [],
        "text": "Hello",
        "track_clicks": True,
        "header": None,
    }
    values["message"] = kept | dict(values.get("message") or {})
    defaults = {
        "workspace": a.workspace,
        "channel": a.channel,
        "name": "Sale",
        "status": "Scheduled",
        "audience": ALL,
        "due_at": now() - timedelta(seconds=1),
        "created_by_kind": "system",
        "created_by_label": "test",
    }
    return Broadcast.objects.create(**(defaults | values))


def begun(a: Tenant, *, chunk: int | None = None, **values: Any) -> Broadcast:
    """A broadcast that has begun and is prepared."""
    broadcast = scheduled(a, **values)
    work(chunk)
    return Broadcast.objects.get(pk=broadcast.pk)


def work(chunk: int | None = None) -> None:
    """Do whatever is to be done now."""
    current = PreparationLoop(chunk=chunk)
    while current.go_on():
        pass
    # On a slow machine the pieces take long enough for a second look, which ends broadcasts to nobody: end them always.
    current.look()


def recipients(broadcast: Broadcast) -> dict[int, Recipient]:
    return {one.contact_id: one for one in Recipient.objects.of(broadcast).order_by("contact_id")}


def check_counts(broadcast: Broadcast) -> None:
    """Each count that is kept is what counting finds."""
    rows = recipients(broadcast).values()
    broadcast.refresh_from_db()
    kept = counts_of([broadcast])[broadcast.pk]
    assert broadcast.recipients_count == len(rows)
    for status in ("pending", "skipped"):
        assert kept[status] == sum(row.status == status for row in rows), status
    waves = {wave.due_at: wave.total for wave in broadcast.waves.all()}
    ready = [row for row in rows if row.skip_reason is None]
    assert waves == {at: sum(row.due_at == at for row in ready) for at in {row.due_at for row in ready}}
