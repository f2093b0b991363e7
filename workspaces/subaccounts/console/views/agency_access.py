"""The button on a sub-account's page with which agency staff open the customer's dashboard."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from agency.models import Member
from agency.pages.branding import in_page_language
from agency.request_actor import user_actor
from workspaces.subaccounts.console.views.sub_account import PAGE, OneSubAccount
from workspaces.subaccounts.pages.agency_access import begin_access, leave_access
from workspaces.subaccounts.services import AgencyIsSuspended, WorkspaceIsSuspended, open_as_customer

DASHBOARD = "/app/"


class OpenAsCustomer(OneSubAccount):
    """Every agency member may open the dashboard. Their role, read on every request, decides what they may do there."""

    writers = frozenset(Member.Role)
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        user, workspace = self.membership.user, self.workspace
        by = user_actor(request, user, acting_for=workspace.name)
        leave_access(request, user)
        try:
            ends_at = open_as_customer(workspace=workspace, now=timezone.now(), by=by)
        except (AgencyIsSuspended, WorkspaceIsSuspended) as refusal:
            messages.error(request, in_page_language(refusal.message))
            return redirect(PAGE, workspace.uuid)
        begin_access(request, user=user, workspace=workspace, ends_at=ends_at)
        return redirect(_page_of_dashboard(request))


def _page_of_dashboard(request: HttpRequest) -> str:
    """Give the dashboard page that the form names, or the dashboard's home if it names an address outside."""
    home, asked = reverse("app:home"), request.POST.get("page", "")
    is_inside = asked.startswith(DASHBOARD) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if is_inside and ".." not in asked else home
