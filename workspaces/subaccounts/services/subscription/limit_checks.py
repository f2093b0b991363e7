"""The check for sub-accounts that have used nine tenths of a limit. It runs in batches, so no run reads all of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from agency import limits
from agency.services.notifications.recording import NewNotificationEvent, check_next_rows, close_states, open_states
from agency.tenants import Tenant
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.notifications import NEAR_LIMIT, WORKSPACE_NEAR_LIMIT
from workspaces.subaccounts.services.recording import tenant_of
from workspaces.subaccounts.services.subscription.near_limits import LEAST_LIMIT
from workspaces.subaccounts.services.subscription.usage import usage

NAME: Final = "workspace_limits"
BATCH: Final = 50
# From the end of one pass to the next.
EVERY: Final = timedelta(minutes=15)


def check_workspace_limits(now: datetime) -> bool:
    """Check the next batch of sub-accounts. Says whether this pass goes on."""
    return check_next_rows(NAME, Workspace.objects.all(), partial(_check, now=now), now=now, batch=BATCH, every=EVERY)


def _check(workspaces: Sequence[Workspace], *, now: datetime) -> None:
    near: list[tuple[Workspace, str, dict[str, Any]]] = []
    ended: set[str] = set()
    for workspace in workspaces:
        used = usage(workspace) if workspace.is_active and _is_limited(workspace.limits) else {}
        for name in limits.NAMES:
            allowed = limits.value(workspace.limits, name)
            number = used.get(name, 0)
            if not allowed or allowed < LEAST_LIMIT or number * 20 < allowed * 17:
                ended.add(_key(workspace, name))
            elif number * 10 >= allowed * 9:
                near.append((workspace, name, {"limit": name, "used": number, "allowed": allowed}))
    for kind, of_agency in ((NEAR_LIMIT, True), (WORKSPACE_NEAR_LIMIT, False)):
        open_states(kind, [_occurrence(*one, of_agency=of_agency) for one in near], now=now)
        close_states(kind, ended, now=now)


def _is_limited(held: Mapping[str, Any]) -> bool:
    return any((limits.value(held, name) or 0) >= LEAST_LIMIT for name in limits.NAMES)


def _occurrence(workspace: Workspace, name: str, data: dict[str, Any], *, of_agency: bool) -> NewNotificationEvent:
    return NewNotificationEvent(
        tenant=Tenant(workspace.agency_id) if of_agency else tenant_of(workspace),
        key=_key(workspace, name),
        object_id=str(workspace.uuid),
        data={**data, "workspace": workspace.name},
    )


def _key(workspace: Workspace, name: str) -> str:
    return f"{workspace.uuid}:{workspace.agency_id}:{name}"
