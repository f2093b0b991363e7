"""Records events for notifications with the change that causes them; people are notified afterwards."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from agency.models import NotificationEvent, User
from agency.notification_kinds import notification_kind
from agency.tenants import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """Something that happened; `key` identifies it alone, and people are notified of a key once.

    `data` holds the values of the kind's sentence, `only_user` the one person whom the event concerns.
    """

    tenant: Tenant
    key: str
    object_id: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    only_user: User | None = None


def record_notification(
    *,
    tenant: Tenant,
    kind: str,
    key: str,
    now: datetime,
    object_id: str = "",
    data: Mapping[str, Any] | None = None,
    only_user: User | None = None,
) -> None:
    """Notify people of something, in the transaction of the change; the same key notifies once.

    Raises `LookupError` for a kind that is not declared for the tenant.
    """
    happened = Occurrence(tenant=tenant, key=key, object_id=object_id, data=data or {}, only_user=only_user)
    record_notifications(kind, [happened], now=now, lasts=False)


def record_notifications(kind: str, occurrences: Iterable[Occurrence], *, now: datetime, lasts: bool) -> None:
    """Record several events of one kind, one row each however many people get them; an open event stays as it is."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A notification belongs into the transaction of its change.")
    audience = notification_kind(kind).audience
    rows = list(occurrences)
    if any(one.tenant.audience != audience for one in rows):
        raise LookupError(f"{kind} is not for this audience.")
    NotificationEvent.objects.bulk_create(
        [
            NotificationEvent(
                agency_id=one.tenant.agency_id,
                workspace_id=one.tenant.workspace_id,
                workspace_uuid=one.tenant.workspace_uuid,
                kind=kind,
                key=one.key,
                object_id=one.object_id,
                data=dict(one.data),
                only_user=one.only_user,
                created_at=now,
                lasts=lasts,
            )
            for one in rows
        ],
        ignore_conflicts=True,
    )
