"""Somebody of the agency opens a customer's dashboard, from the button on the sub-account's page."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from agency.models import Member
from agency.request_actor import user_actor
from workspaces.subaccounts.console.views.sub_account import PAGE, OneSubAccount
from workspaces.subaccounts.pages.agency_access import begin_access, leave_access
from workspaces.subaccounts.services import AgencyIsSuspended, WorkspaceIsSuspended, open_as_customer


class OpenAsCustomer(OneSubAccount):
    """Everybody of the team may look; what each may do there follows from their role, read at every request."""

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
            messages.error(request, refusal.message)
            return redirect(PAGE, workspace.uuid)
        begin_access(request, user=user, workspace=workspace, ends_at=ends_at)
        return redirect("app:home")
