"""Choosing, switching and leaving a workspace."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _

from agency.pages.pagination import paginate, with_id
from agency.request_actor import user_actor
from config.api.requests import parse_uuid
from workspaces.subaccounts.dashboard.current_workspace import choose_workspace
from workspaces.subaccounts.dashboard.surface import CustomerView, inside_dashboard
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import WorkspaceNotFound, leave_workspace


def page_of_ours(request: HttpRequest) -> str:
    """Give the dashboard page that `next` names, else the dashboard's home."""
    asked = request.POST.get("next") or request.GET.get("next") or ""
    return inside_dashboard(asked) or reverse("app:home")


class ChooseWorkspace(CustomerView):
    """Lists all workspaces of a user; on an agency's host, only that agency's."""

    def get(self, request: HttpRequest) -> HttpResponse:
        rows, pages = paginate(request, self.workspaces)
        if not rows:
            return render(request, "subaccounts/no_workspace.html", status=403)
        context = {"rows": rows, "pages": pages, "next": page_of_ours(request)}
        return render(request, "subaccounts/choose_workspace.html", context)


class SwitchWorkspace(CustomerView):
    """Enters another of the user's workspaces and keeps the choice in the session."""

    form_page = "app:choose"

    def post(self, request: HttpRequest) -> HttpResponse:
        asked = parse_uuid(request.POST.get("workspace", ""))
        chosen = self.workspaces.filter(uuid=asked).first() if asked else None
        if chosen is None:
            messages.error(request, _("This workspace is not yours."))
            return redirect("app:home")
        choose_workspace(request, self.user, chosen)
        return redirect(page_of_ours(request))


class LeaveWorkspace(CustomerView):
    """Leaves a workspace. If its owner leaves, the agency names another owner or invites this one again."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        return render(request, "account/leave.html", {"name": self._own(uuid).name})

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        workspace = self._own(uuid)
        by = user_actor(request, self.user, of_workspace=True)
        leave_workspace(workspace=workspace, user=self.user, now=now(), by=by)
        return self.done(_("You have left %(name)s.") % {"name": workspace.name}, "account:invitations")

    def _own(self, uuid: UUID | None) -> Workspace:
        found = with_id(self.workspaces, uuid)
        if found is None:
            raise WorkspaceNotFound
        return found
