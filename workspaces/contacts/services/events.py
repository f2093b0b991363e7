"""The names of the workspace's events about contacts and segments, and functions that record them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from agency.services import NewEvent, record_events, subscribed_events
from workspaces.contacts.models import Contact
from workspaces.contacts.services.contact_rows import ContactRow
from workspaces.contacts.services.fields import added_tags
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import tenant_of

# `hooks.py` declares their types.

CONTACT_CREATED = "contact.created"
CONTACT_UPDATED = "contact.updated"
CONTACT_DELETED = "contact.deleted"
CONTACT_TAGGED = "contact.tagged"
CONTACT_UNTAGGED = "contact.untagged"
CONTACT_OPTED_OUT = "contact.opted_out"
CONTACT_OPTED_IN = "contact.opted_in"
IMPORT_COMPLETED = "contact.import_completed"
SEGMENT_CREATED = "segment.created"
SEGMENT_UPDATED = "segment.updated"
SEGMENT_DELETED = "segment.deleted"


COMPARED_FIELDS = ("name", "phone", "email", "tags", "timezone", "country", "attributes")

# The name of an event and its data.
NamedEvent = tuple[str, Mapping[str, object]]


def contact_reading(contact: Contact | ContactRow) -> dict[str, Any]:
    """Return the current values of the fields whose changes make an event."""
    return {name: getattr(contact, name) or None for name in COMPARED_FIELDS} | {
        "tags": list(contact.tags),
        "attributes": dict(contact.attributes),
    }


def change_events(contact: Contact | ContactRow, before: Mapping[str, Any]) -> Iterator[NamedEvent]:
    """Yield the events for a contact's changes since `before`, a result of `contact_reading`."""
    after = contact_reading(contact)
    changes = differences(before, after)
    if changes:
        yield CONTACT_UPDATED, {"contact": contact, "changes": changes}
    added, removed = added_tags(before["tags"], after["tags"]), added_tags(after["tags"], before["tags"])
    if added:
        yield CONTACT_TAGGED, {"contact": contact, "tags": added}
    if removed:
        yield CONTACT_UNTAGGED, {"contact": contact, "tags": removed}


def record_changes(contact: Contact, *, before: Mapping[str, Any], now: datetime) -> None:
    """Record the events for a contact's changes since `before`."""
    record(contact.workspace, change_events(contact, before), now=now)


def record_removal(contact: Contact, *, now: datetime) -> None:
    """Record the event of a contact's removal. Call it before the removal, so that the event has the whole contact."""
    record(contact.workspace, [(CONTACT_DELETED, {"contact": contact})], now=now)


def record(workspace: Workspace, named_events: Iterable[NamedEvent], *, now: datetime) -> None:
    """Record the events of one workspace that an endpoint subscribes to."""
    some = list(named_events)
    if some:
        wanted = subscribed_events([workspace.pk]).get(workspace.pk, set())
        record_wanted(workspace, some, wanted, now=now)


def record_wanted(
    workspace: Workspace, named_events: Iterable[NamedEvent], wanted: Collection[str], *, now: datetime
) -> None:
    """Record the events whose names are in `wanted`."""
    tenant = tenant_of(workspace)
    record_events(
        NewEvent(tenant=tenant, name=name, data=data, occurred_at=now) for name, data in named_events if name in wanted
    )


def record_import(
    workspace: Workspace, *, origin: str, filename: str | None, counts: Mapping[str, int], now: datetime
) -> None:
    """Record the event of a completed import. `origin` is `api` or `file`."""
    record(
        workspace, [(IMPORT_COMPLETED, {"contact_import": {"origin": origin, "filename": filename, **counts}})], now=now
    )


def record_created(contacts: Collection[int], workspaces: Collection[int], *, now: datetime) -> None:
    """Record the events of new contacts in any number of workspaces. Without subscriptions this is one statement."""
    wanted = {pk for pk, names in subscribed_events(workspaces).items() if CONTACT_CREATED in names}
    if not wanted:
        return
    rows = Contact.objects.filter(pk__in=contacts, workspace__in=wanted).select_related("workspace").with_channels()
    record_events(
        NewEvent(tenant=tenant_of(row.workspace), name=CONTACT_CREATED, data={"contact": row}, occurred_at=now)
        for row in rows.order_by("pk")
    )
