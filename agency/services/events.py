"""The only way into the outbox: an event is recorded in the transaction of its change, or not at all."""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson
from django.db import transaction

from agency.event_types import event_type
from agency.models import Event
from agency.tenants import Audience, Tenant
from config.celery import wake_up
from config.hooks import Registry

DISPATCHER = "dispatcher"


@dataclass(frozen=True, slots=True)
class SubscriptionSource:
    """How a higher app says which events its subscribers want.

    `has_subscribers` says whether a tenant has a subscriber for events of this name. `subscriptions` returns the names
    that each of these workspaces has subscribers for, in one statement.
    """

    name: str
    has_subscribers: Callable[[Tenant, str], bool]
    subscriptions: Callable[[Collection[int]], Mapping[int, AbstractSet[str]]]


subscriber_checks = Registry[SubscriptionSource](
    "checks for subscribers",
    called="`has_subscribers` asks each until one says yes, `subscribed_events` asks all, before events are recorded",
    transaction="the caller's",
    failure="rolls the caller back",
)


def envelope(
    *, id: uuid.UUID, event: str, occurred_at: datetime, tenant: Tenant, data: Mapping[str, object], test: bool = False
) -> bytes:
    """Build the exact bytes that receivers get: `{id, event, occurred_at, agency_id, data}`, `test` only when true.

    An event for a workspace has `workspace_id`, the workspace's uuid, in the place of `agency_id`.
    """
    body: dict[str, object] = {
        "id": str(id),
        "event": event,
        "occurred_at": occurred_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        **_owner(tenant),
        "data": data,
    }
    if test:
        body["test"] = True
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)


def _owner(tenant: Tenant) -> dict[str, int | str]:
    if tenant.audience == Audience.AGENCY:
        return {"agency_id": tenant.agency_id}
    return {"workspace_id": str(tenant.workspace_uuid)}


def record_event(
    *, tenant: Tenant, name: str, data: object, now: datetime, workspace_uuid: uuid.UUID | None = None
) -> Event | None:
    """Record a declared event in the change's transaction; None if its type needs a subscriber and it has none.

    `data` is what the type's serializer reads, often the objects concerned by name. `workspace_uuid` names the
    workspace that an agency's event is about. Raises `LookupError` for an event that is not declared for the tenant.
    """
    declared = event_type(name)
    if declared.audience != tenant.audience:
        raise LookupError(f"{name} is not an event of this audience.")
    if declared.only_if_subscribed and not has_subscribers(tenant, name):
        return None
    written = declared.serializer(data).data
    return write_event(tenant=tenant, name=name, data=written, now=now, workspace_uuid=workspace_uuid)


def write_event(
    *, tenant: Tenant, name: str, data: Mapping[str, object], now: datetime, workspace_uuid: uuid.UUID | None = None
) -> Event:
    """Write an event whose `data` is JSON already, and wake the dispatcher once the event is committed."""
    _require_transaction()
    identity = uuid.uuid4()
    event = Event.objects.create(
        uuid=identity,
        agency_id=tenant.agency_id,
        workspace_id=tenant.workspace_id,
        workspace_uuid=workspace_uuid or tenant.workspace_uuid,
        name=name,
        occurred_at=now,
        body=envelope(id=identity, event=name, occurred_at=now, tenant=tenant, data=data),
    )
    wake_up(DISPATCHER)
    return event


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to record with others: `data` is what its type's serializer reads."""

    tenant: Tenant
    name: str
    data: object
    occurred_at: datetime


def record_events(events: Iterable[NewEvent]) -> int:
    """Record declared events in bulk, in the changes' transaction; return how many.

    Callers have checked `subscribed_events` before: this function does not check for subscribers again.
    """
    rows = [_row(event) for event in events]
    if rows:
        _require_transaction()
        Event.objects.bulk_create(rows)
        wake_up(DISPATCHER)
    return len(rows)


def _row(event: NewEvent) -> Event:
    declared, tenant, identity = event_type(event.name), event.tenant, uuid.uuid4()
    if declared.audience != tenant.audience:
        raise LookupError(f"{event.name} is not an event of this audience.")
    data = declared.serializer(event.data).data
    return Event(
        uuid=identity,
        agency_id=tenant.agency_id,
        workspace_id=tenant.workspace_id,
        workspace_uuid=tenant.workspace_uuid,
        name=event.name,
        occurred_at=event.occurred_at,
        body=envelope(id=identity, event=event.name, occurred_at=event.occurred_at, tenant=tenant, data=data),
    )


def subscribed_events(workspaces: Collection[int]) -> dict[int, set[str]]:
    """Return the names of the events that each of these workspaces has subscribers for; one without any is left out.

    Each higher app with subscribers makes one statement, however many workspaces there are.
    """
    wanted: dict[int, set[str]] = {}
    for check in subscriber_checks if workspaces else ():
        for workspace, names in check.subscriptions(workspaces).items():
            wanted.setdefault(workspace, set()).update(names)
    return wanted


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("An event belongs into the transaction of its change.")


def has_subscribers(tenant: Tenant, name: str) -> bool:
    """Whether the tenant has a subscriber for events of this name."""
    return any(check.has_subscribers(tenant, name) for check in subscriber_checks)
