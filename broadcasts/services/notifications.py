"""Notifications about broadcasts that are paused for a fault, or held until their number has room again."""

from datetime import datetime
from typing import Final

from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.utils.translation import gettext_lazy as _

from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import ALL_ROLES, NotificationKind
from agency.services.notifications.recording import (
    BATCH,
    NewNotificationEvent,
    close_states,
    open_keys,
    open_states,
    record_notification,
    state_is_open,
)
from agency.tenants import Audience, Tenant
from broadcasts.models import Broadcast, BroadcastCount
from workspaces.subaccounts.services import tenant_of

BROADCAST_PAUSED: Final = "broadcast.paused"
WORKSPACE_BROADCAST_PAUSED: Final = "workspace.broadcast_paused"
WORKSPACE_BROADCAST_HELD: Final = "workspace.broadcast_held"
KINDS: Final = (
    NotificationKind(
        name=BROADCAST_PAUSED,
        label=_("Broadcast paused for a fault"),
        text=_("The broadcast %(broadcast)s of %(workspace)s was paused: %(reason)s"),
        url_name="console:broadcast",
        names_object=True,
        roles=ALL_ROLES,
        usual=DeliveryMethod.DIGEST,
    ),
    NotificationKind(
        name=WORKSPACE_BROADCAST_PAUSED,
        label=_("Broadcast paused for a fault"),
        text=_("The broadcast %(broadcast)s was paused: %(reason)s"),
        url_name="app:broadcast",
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
    NotificationKind(
        name=WORKSPACE_BROADCAST_HELD,
        label=_("Broadcast waits for its number's allowance"),
        text=_("People of the broadcast %(broadcast)s wait until its number may write to more of them."),
        url_name="app:broadcast",
        names_object=True,
        audience=Audience.WORKSPACE,
        usual=DeliveryMethod.CONSOLE,
    ),
)


def notify_of_pause(broadcast: Broadcast, *, now: datetime, reason: str | None = None) -> None:
    """Notify agency and customer of what holds a broadcast back: `reason`, or else the reason of its pause."""
    workspace = broadcast.workspace
    told = {"broadcast": broadcast.name, "workspace": workspace.name, "reason": reason or broadcast.paused_reason or ""}
    for tenant, kind in (
        (Tenant(workspace.agency_id), BROADCAST_PAUSED),
        (tenant_of(workspace), WORKSPACE_BROADCAST_PAUSED),
    ):
        key = f"{broadcast.uuid}:{now.isoformat()}"
        record_notification(tenant=tenant, kind=kind, key=key, object_id=str(broadcast.uuid), data=told, now=now)


def check_held_broadcasts(now: datetime) -> bool:
    """Notify of broadcasts whose people wait for their number's allowance."""
    rows = _held().exclude(state_is_open(WORKSPACE_BROADCAST_HELD, "uuid")).select_related("workspace").order_by("pk")
    found = [_occurrence(one) for one in rows[:BATCH]]
    open_states(WORKSPACE_BROADCAST_HELD, found, now=now)
    for keys in open_keys(WORKSPACE_BROADCAST_HELD):
        still = _under_way().filter(uuid__in=keys).values_list("uuid", flat=True)
        close_states(WORKSPACE_BROADCAST_HELD, set(keys) - {str(uuid) for uuid in still}, now=now)
    return len(found) == BATCH


def _under_way() -> "QuerySet[Broadcast]":
    """Return broadcasts under way. Room comes and goes daily, so a held broadcast is notified once, until it ends."""
    return Broadcast.objects.filter(status__in=(Broadcast.Status.SENDING, Broadcast.Status.PAUSED))


def _held() -> "QuerySet[Broadcast]":
    counts = BroadcastCount.objects.filter(broadcast_id=OuterRef("pk")).order_by().values("broadcast_id")
    held = Subquery(counts.annotate(sum=Sum("held")).values("sum"))
    return Broadcast.objects.filter(status=Broadcast.Status.SENDING).alias(held=held).filter(held__gt=0)


def _occurrence(broadcast: Broadcast) -> NewNotificationEvent:
    return NewNotificationEvent(
        tenant=tenant_of(broadcast.workspace),
        key=str(broadcast.uuid),
        object_id=str(broadcast.uuid),
        data={"broadcast": broadcast.name, "workspace": broadcast.workspace.name},
    )
