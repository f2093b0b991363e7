"""The customer's dashboard that an agency's staff member has opened. Their session keeps it, for an hour at most."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F
from django.http import HttpRequest

from agency.models import User
from agency.models.branding import AGENCY_PICTURE_BYTE_FIELDS
from agency.request_actor import user_actor
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import end_access

SESSION_KEY = "agency_access"


@dataclass(frozen=True, slots=True)
class AgencyAccess:
    """The workspace that `user` has opened, and the time at which that access ends."""

    user: int
    workspace: UUID
    ends_at: datetime


def begin_access(request: HttpRequest, *, user: User, workspace: Workspace, ends_at: datetime) -> None:
    """Keep the opened workspace in the session. It replaces a workspace opened before."""
    request.session[SESSION_KEY] = {"user": user.pk, "workspace": str(workspace.uuid), "ends_at": ends_at.isoformat()}


def access_of(request: HttpRequest, user: User) -> AgencyAccess | None:
    """Give the user's access in this session, even if its time is over."""
    kept = request.session.get(SESSION_KEY)
    if kept is None or kept["user"] != user.pk:
        return None
    return AgencyAccess(user.pk, UUID(kept["workspace"]), datetime.fromisoformat(kept["ends_at"]))


def leave_access(request: HttpRequest, user: User) -> Workspace | None:
    """End the user's access and record it. Gives the workspace if the user is still a member of its agency.

    Nothing is recorded of users who have left the agency.
    """
    access = access_of(request, user)
    request.session.pop(SESSION_KEY, None)
    if access is None:
        return None
    theirs = Workspace.objects.filter(uuid=access.workspace, agency__members__user=user)
    workspace: Workspace | None = theirs.select_related("agency").first()
    if workspace:
        end_access(workspace=workspace, by=user_actor(request, user, acting_for=workspace.name))
    return workspace


def leave_on_signing_out(request: HttpRequest, user: User | None, **_: object) -> None:
    """End the access of a user who signs out."""
    if user is not None:
        leave_access(request, user)


def opened_workspace(
    access: AgencyAccess, *, now: datetime, host_agency_id: int | None
) -> tuple[Workspace, str] | None:
    """Read the opened workspace and the user's role at its agency anew, in one statement for each request.

    None if the time is over, the user has left the agency, the agency or the workspace is suspended, or the host
    belongs to another agency.
    """
    if access.ends_at <= now:
        return None
    rows = Workspace.objects.filter(uuid=access.workspace, agency__members__user=access.user)
    rows = rows.select_related("agency__brand", "agency__sign_up").defer(
        *(f"agency__{picture}" for picture in AGENCY_PICTURE_BYTE_FIELDS)
    )
    workspace = rows.annotate(agency_role=F("agency__members__role")).first()
    if workspace is None or not workspace.is_active or not workspace.agency.is_active:
        return None
    if host_agency_id not in (None, workspace.agency_id):
        return None
    role: str = workspace.agency_role  # type: ignore[attr-defined]  # annotated above
    return workspace, role
