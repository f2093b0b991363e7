"""Whose dashboard is open: a workspace that the person owns, read on every request."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest

from agency.models import Agency, Brand, User
from agency.services.people.users import remember_landing
from config.api.requests.ids import parse_uuid
from workspaces.subaccounts.models import Workspace

CHOSEN = "workspace"
MOST_OTHERS = 8


@dataclass(frozen=True, slots=True)
class CurrentWorkspace:
    """A person in a workspace of theirs; `others` are a few of their other workspaces."""

    user: User
    workspace: Workspace
    others: list[Workspace]

    @property
    def agency(self) -> Agency:
        return self.workspace.agency

    @property
    def brand(self) -> Brand | None:
        """The agency's looks, if it has chosen any."""
        return getattr(self.agency, "brand", None)

    @property
    def is_open(self) -> bool:
        return self.workspace.is_active and self.agency.is_active


def workspaces_of(user: User) -> "QuerySet[Workspace]":
    """Give what a person owns, with its agencies, by name."""
    rows: QuerySet[Workspace] = Workspace.objects.owned_by(user).select_related("agency__brand")
    return rows.defer("agency__brand__logo").order_by("name_key", "id")


def find_current_workspace(request: HttpRequest, user: User) -> CurrentWorkspace | None:
    """Enter the workspace that the session names, or the one chosen last, or the only one; None where there is none."""
    rows = workspaces_of(user)
    few = list(rows[: MOST_OTHERS + 1])
    chosen = parse_uuid(request.session.get(CHOSEN, "")) or user.chosen_workspace
    found = _with(few, chosen)
    if found is None and chosen and len(few) > MOST_OTHERS:
        found = rows.filter(uuid=chosen).first()
    if found is None and len(few) == 1:
        found = few[0]
    return CurrentWorkspace(user, found, [one for one in few if one != found]) if found else None


def _with(rows: list[Workspace], uuid: UUID | None) -> Workspace | None:
    return next((one for one in rows if one.uuid == uuid), None)


def choose_workspace(request: HttpRequest, user: User, workspace: Workspace) -> None:
    """Keep the choice, for the session and as the place to arrive at."""
    request.session[CHOSEN] = str(workspace.uuid)
    remember_landing(user=user, landing="app", workspace_uuid=workspace.uuid)
