"""The lock of a sub-account, and records of changes: activity entries, events, and visits of agency staff."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from agency.actors import Actor
from agency.models import ActivityEntry, Addon, Plan
from agency.services import record_activity, record_event
from agency.services.activity import Changes
from agency.tenants import Tenant
from config.errors import Conflict
from workspaces.subaccounts.models import Workspace


def record_sub_account_event(*, workspace: Workspace, event: str, now: datetime, **more: object) -> None:
    """Record an agency event about a sub-account. Its data holds the workspace and `more`, such as a plan."""
    record_event(
        tenant=Tenant(workspace.agency_id),
        name=event,
        data={"workspace": workspace, **more},
        now=now,
        workspace_uuid=workspace.uuid,
    )


def tenant_of(workspace: Workspace) -> Tenant:
    """Give the workspace as the tenant of its events, endpoints and deliveries."""
    return Tenant(workspace.agency_id, workspace.pk, workspace.uuid)


def record_workspace_event(*, workspace: Workspace, name: str, now: datetime, **data: object) -> None:
    """Record an event for the workspace's own webhooks, in the change's transaction. Nothing without subscribers.

    `data` holds the objects under the names that the event type gives them: `product=product, changes={…}`.
    """
    record_event(tenant=tenant_of(workspace), name=name, data=data, now=now)


def record_workspace_activity(
    *,
    workspace: Workspace,
    action: str,
    by: Actor,
    details: dict[str, Any] | None = None,
    changes: Changes | None = None,
) -> None:
    """Add an entry to the activity log of the agency and the sub-account."""
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("workspace", workspace.uuid, workspace.name),
        details=details,
        changes=changes,
    )


def plan_reference(plan: Plan | None) -> dict[str, str] | None:
    """`{uuid, name}`, or None for a sub-account without a plan."""
    return {"uuid": str(plan.uuid), "name": plan.name} if plan else None


def addon_reference(addon: Addon) -> dict[str, str]:
    """`{uuid, name}`."""
    return {"uuid": str(addon.uuid), "name": addon.name}


# All services lock a sub-account here.


def lock_workspace(workspace: Workspace) -> Workspace:
    """Lock the row and read it anew. The caller must be in a transaction.

    The plan is not joined, but read later by itself: after a wait, a join would show the former plan or none.
    """
    locked: Workspace = Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)
    return locked


# Visits of agency staff: entries, also in the customer's log, name the person and the customer.

ACCESS_LASTS = timedelta(hours=1)


class WorkspaceIsSuspended(Conflict):
    message = "This sub-account is suspended: nobody can open it. Restore it first."


class AgencyIsSuspended(Conflict):
    message = "Your agency is suspended: the dashboards of its customers are closed."


@transaction.atomic
def open_as_customer(*, workspace: Workspace, now: datetime, by: Actor) -> datetime:
    """Record that a staff member opens a customer's dashboard. Gives the time at which the access ends.

    Raises `AgencyIsSuspended` and `WorkspaceIsSuspended`.
    """
    if not workspace.agency.is_active:
        raise AgencyIsSuspended
    if not workspace.is_active:
        raise WorkspaceIsSuspended
    record_workspace_activity(workspace=workspace, action="workspace.opened_by_agency", by=by)
    return now + ACCESS_LASTS


@transaction.atomic
def end_access(*, workspace: Workspace, by: Actor) -> None:
    """Record that a staff member has left a customer's dashboard."""
    record_workspace_activity(workspace=workspace, action="workspace.left_by_agency", by=by)


def last_entry_of_visit(*, workspace: Workspace, by: Actor) -> int | None:
    """Give the id of the newest entry that a staff member has caused as customer in this workspace."""
    theirs = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid, actor_id=by.id).exclude(acting_for="")
    return theirs.order_by("-id").values_list("pk", flat=True).first()


def record_change_by_agency(*, workspace: Workspace, page: str, by: Actor) -> None:
    """Record a change that a staff member made as customer, under the page's name, if no service recorded it."""
    record_activity(
        by=by,
        action="workspace.changed_by_agency",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("page", "", page),
    )
