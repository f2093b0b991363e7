"""Where a customer arrives, and changes between workspaces."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now
from django.utils.translation import gettext as _

from agency.pages.lists import paged, with_id
from agency.pages.registry import dashboard_menu, in_order
from agency.request_actor import user_actor
from config.api.requests.ids import parse_uuid
from workspaces.subaccounts.dashboard.current_workspace import choose_workspace, workspaces_of
from workspaces.subaccounts.dashboard.surface import CustomerView, DashboardView
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import WorkspaceNotFound, leave_workspace


def page_of_ours(request: HttpRequest) -> str:
    """Give the dashboard's page asked for in `next`, else where it begins."""
    asked = request.POST.get("next") or request.GET.get("next") or ""
    inside = asked.startswith(reverse("app:home")) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if inside else reverse("app:home")


class LandingPage(DashboardView):
    """Leads on to the first page of the menu."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return redirect(in_order(dashboard_menu)[0].url_name)


class ChooseWorkspace(CustomerView):
    """All workspaces of a person, of whichever agency."""

    def get(self, request: HttpRequest) -> HttpResponse:
        rows, pages = paged(request, workspaces_of(self.user))
        if not rows:
            return render(request, "subaccounts/no_workspace.html", status=403)
        context = {"rows": rows, "pages": pages, "next": page_of_ours(request)}
        return render(request, "subaccounts/choose_workspace.html", context)


class SwitchWorkspace(CustomerView):
    """Enters another of the person's workspaces; the session keeps the choice."""

    form_page = "app:choose"

    def post(self, request: HttpRequest) -> HttpResponse:
        asked = parse_uuid(request.POST.get("workspace", ""))
        chosen = workspaces_of(self.user).filter(uuid=asked).first() if asked else None
        if chosen is None:
            messages.error(request, _("This workspace is not yours."))
            return redirect("app:home")
        choose_workspace(request, self.user, chosen)
        return redirect(page_of_ours(request))


class LeaveWorkspace(CustomerView):
    """Gives a workspace up; its agency names another owner, or invites this one again."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        return render(request, "account/leave.html", {"name": self._own(uuid).name})

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        workspace = self._own(uuid)
        leave_workspace(workspace=workspace, user=self.user, now=now(), by=user_actor(request, self.user))
        return self.done(_("You have left %(name)s.") % {"name": workspace.name}, "account:invitations")

    def _own(self, uuid: UUID | None) -> Workspace:
        found = with_id(workspaces_of(self.user), uuid)
        if found is None:
            raise WorkspaceNotFound
        return found
