"""Records events about contacts for a workspace's webhooks. Events without a subscription are skipped."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from agency.services import NewEvent, record_events, subscribed_events
from workspaces.contacts import events
from workspaces.contacts.models import Contact
from workspaces.contacts.services.fields.columns import ContactColumns
from workspaces.contacts.services.fields.tags import added_tags
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import tenant_of

READ = ("name", "phone", "email", "tags", "timezone", "country", "attributes")

# The name of an event and its data.
NamedEvent = tuple[str, Mapping[str, Any]]


def contact_reading(contact: Contact | ContactColumns) -> dict[str, Any]:
    """Return the current values of the fields whose changes make an event."""
    return {name: getattr(contact, name) or None for name in READ} | {
        "tags": list(contact.tags),
        "attributes": dict(contact.attributes),
    }


def change_events(contact: Contact | ContactColumns, before: Mapping[str, Any]) -> Iterator[NamedEvent]:
    """Yield the events for a contact's changes since `before`, a result of `contact_reading`."""
    after = contact_reading(contact)
    changes = differences(before, after)
    if changes:
        yield events.CONTACT_UPDATED, {"contact": contact, "changes": changes}
    added, removed = added_tags(before["tags"], after["tags"]), added_tags(after["tags"], before["tags"])
    if added:
        yield events.CONTACT_TAGGED, {"contact": contact, "tags": added}
    if removed:
        yield events.CONTACT_UNTAGGED, {"contact": contact, "tags": removed}


def record_changes(contact: Contact, *, before: Mapping[str, Any], now: datetime) -> None:
    """Record the events for a contact's changes since `before`."""
    record(contact.workspace, change_events(contact, before), now=now)


def record_removal(contact: Contact, *, now: datetime) -> None:
    """Record the event of a contact's removal. Call it before the removal, so that the event has the whole contact."""
    record(contact.workspace, [(events.CONTACT_DELETED, {"contact": contact})], now=now)


def record(workspace: Workspace, told: Iterable[NamedEvent], *, now: datetime) -> None:
    """Record the events of one workspace that an endpoint subscribes to."""
    some = list(told)
    if some:
        wanted = subscribed_events([workspace.pk]).get(workspace.pk, set())
        record_wanted(workspace, some, wanted, now=now)


def record_wanted(workspace: Workspace, told: Iterable[NamedEvent], wanted: Collection[str], *, now: datetime) -> None:
    """Record the events whose names are in `wanted`."""
    tenant = tenant_of(workspace)
    record_events(
        NewEvent(tenant=tenant, name=name, data=data, occurred_at=now) for name, data in told if name in wanted
    )


def record_import(
    workspace: Workspace, *, origin: str, filename: str | None, counts: Mapping[str, int], now: datetime
) -> None:
    """Record the event of a completed import. `origin` is `api` or `file`."""
    record(
        workspace,
        [(events.IMPORT_COMPLETED, {"contact_import": {"origin": origin, "filename": filename, **counts}})],
        now=now,
    )


def record_created(contacts: Collection[int], workspaces: Collection[int], *, now: datetime) -> None:
    """Record the events of new contacts in any number of workspaces. Without subscriptions this is one statement."""
    wanted = {pk for pk, names in subscribed_events(workspaces).items() if events.CONTACT_CREATED in names}
    if not wanted:
        return
    rows = Contact.objects.filter(pk__in=contacts, workspace__in=wanted).select_related("workspace").with_channels()
    record_events(
        NewEvent(tenant=tenant_of(row.workspace), name=events.CONTACT_CREATED, data={"contact": row}, occurred_at=now)
        for row in rows.order_by("pk")
    )
