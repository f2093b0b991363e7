"""The workspace whose dashboard is open: the user's own, or one that they opened as agency staff.

It is read anew on every request.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet, TextChoices
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models import Agency, Member, SignUpSettings, User
from agency.models.branding import AGENCY_PICTURE_BYTE_FIELDS
from agency.pages.branding import host_agency_id
from agency.pages.views import has_shown_code
from agency.services.members import remember_landing
from config.api.requests import parse_uuid
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.agency_access import AgencyAccess, access_of, leave_access, opened_workspace

CHOSEN = "workspace"
MOST_OTHERS = 8


class Role(TextChoices):
    """A user's role in the open workspace. The last two are for agency staff in a customer's dashboard."""

    OWNER = "owner", _("Owner")
    MEMBER = "member", _("Member")
    AGENCY = "agency", _("Agency")
    AGENCY_VIEWER = "agency_viewer", _("Agency, may look only")


# The roles that may make all changes but those reserved for the owner.
CHANGERS = frozenset({Role.OWNER, Role.MEMBER, Role.AGENCY})
OWNERS = frozenset({Role.OWNER})


class AccessHasEnded(Exception):
    """A staff member's access to a customer's dashboard is over: its time is up, or they lost the right to it."""

    def __init__(self, workspace: UUID) -> None:
        super().__init__()
        self.workspace = workspace


@dataclass(frozen=True, slots=True)
class CurrentWorkspace:
    """A user in a workspace. `others` are a few of the user's other workspaces.

    `access_ends_at` is set for agency staff who opened the dashboard as customer.
    """

    user: User
    workspace: Workspace
    others: list[Workspace]
    role: Role
    access_ends_at: datetime | None = None

    @property
    def agency(self) -> Agency:
        return self.workspace.agency

    @property
    def is_open(self) -> bool:
        return self.workspace.is_active and self.agency.is_active

    @property
    def may_add_workspace(self) -> bool:
        """Say whether the user may add a workspace from the switcher."""
        sign_up: SignUpSettings | None = getattr(self.agency, "sign_up", None)
        return not self.is_opened_by_agency and sign_up is not None and sign_up.allows_further_workspaces

    @property
    def is_opened_by_agency(self) -> bool:
        return self.access_ends_at is not None

    @property
    def requires_two_factor(self) -> bool:
        """Say whether the workspace requires two-factor of all its users, agency staff included."""
        return self.workspace.two_factor_required

    @property
    def may_change(self) -> bool:
        return self.role in CHANGERS


def workspaces_of(user: User, agency_id: int | None = None) -> "QuerySet[Workspace]":
    """Give the workspaces that a user owns or works in, with their agencies, by name.

    With `agency_id`, give only that agency's.
    """
    rows: QuerySet[Workspace] = Workspace.objects.of_person(user).select_related("agency__brand", "agency__sign_up")
    if agency_id is not None:
        rows = rows.filter(agency=agency_id)
    return rows.defer(*(f"agency__{picture}" for picture in AGENCY_PICTURE_BYTE_FIELDS)).order_by("name_key", "id")


def find_current_workspace(request: HttpRequest, user: User) -> CurrentWorkspace | None:
    """Find the workspace that the session names, or the one chosen last, or the only one; None if there is none.

    A customer's workspace that agency staff have opened comes first. If that access is over, this ends it and raises
    `AccessHasEnded`; the next call looks among the user's own workspaces.
    """
    access = access_of(request, user)
    if access:
        return _opened(request, user, access)
    rows = workspaces_of(user, host_agency_id(request))
    few = list(rows[: MOST_OTHERS + 1])
    chosen = parse_uuid(request.session.get(CHOSEN, "")) or user.chosen_workspace
    found = _with(few, chosen)
    if found is None and chosen and len(few) > MOST_OTHERS:
        found = rows.filter(uuid=chosen).first()
    if found is None and len(few) == 1:
        found = few[0]
    return _entered(user, found, [one for one in few if one != found]) if found else None


def _entered(user: User, workspace: Workspace, others: list[Workspace]) -> CurrentWorkspace:
    owns = workspace.owner_id == user.pk and workspace.owner_pending_since is None
    return CurrentWorkspace(user, workspace, others, Role.OWNER if owns else Role.MEMBER)


def _opened(request: HttpRequest, user: User, access: AgencyAccess) -> CurrentWorkspace:
    opened = opened_workspace(access, now=timezone.now(), host_agency_id=host_agency_id(request))
    if opened is None or _lacks_a_code(request, *opened):
        leave_access(request, user)
        raise AccessHasEnded(access.workspace)
    workspace, role = opened
    may_change = Member(role=role).may_change_things
    return CurrentWorkspace(user, workspace, [], Role.AGENCY if may_change else Role.AGENCY_VIEWER, access.ends_at)


def _lacks_a_code(request: HttpRequest, workspace: Workspace, role: str) -> bool:
    """Say whether the agency requires two-factor of this role, and this session has shown no code."""
    return role in workspace.agency.two_factor_roles and not has_shown_code(request)


def _with(rows: list[Workspace], uuid: UUID | None) -> Workspace | None:
    return next((one for one in rows if one.uuid == uuid), None)


def choose_workspace(request: HttpRequest, user: User, workspace: Workspace) -> None:
    """Keep the choice in the session and as the user's landing page. This also leaves a customer's dashboard."""
    leave_access(request, user)
    request.session[CHOSEN] = str(workspace.uuid)
    remember_landing(user=user, landing="app", workspace_uuid=workspace.uuid)
