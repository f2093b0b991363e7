"""Agency staff in a customer's dashboard. Log entries, also in the customer's log, name the person and the customer."""

from datetime import datetime, timedelta

from django.db import transaction

from agency.actors import Actor
from agency.models import ActivityEntry
from agency.services import record_activity
from config.errors import Conflict
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.recording import record_workspace_activity

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
