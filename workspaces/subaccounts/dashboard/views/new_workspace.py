"""A further workspace that a user adds, if the agency allows it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _

from agency.account.sign_in import NEW_WORKSPACES
from agency.models import Agency
from agency.pages.branding import host_agency
from agency.pages.registry import dashboard_menu, in_order
from agency.pages.views import FormView
from agency.request_actor import user_actor
from config.errors import Forbidden
from workspaces.subaccounts.dashboard.current_workspace import choose_workspace, find_current_workspace
from workspaces.subaccounts.dashboard.surface import CustomerView
from workspaces.subaccounts.pages.agency_access import access_of
from workspaces.subaccounts.pages.business import BusinessForm
from workspaces.subaccounts.services import SubAccountLimitReached, WorkspaceNotFound
from workspaces.subaccounts.services.people.signing_up import NoFurtherWorkspaces, add_workspace, may_add_workspace
from workspaces.subaccounts.services.provisioning import agency_has_room


class TooManyAtOnce(Forbidden):
    message = "Too many workspaces were added. Try again in a quarter of an hour."


class NewWorkspace(FormView[BusinessForm], CustomerView):
    """Adds a workspace at the host's agency; on the installation's own host, at the current workspace's agency."""

    creates = True
    nav = "app:workspace-new"
    landing_page = "app:choose"
    template_name = "sign_up/new_workspace.html"
    agency: Agency

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        """Refuse agency staff in a customer's dashboard, because the new workspace would belong to them."""
        refusal = super().check_access(request)
        if refusal is None and access_of(request, self.user):
            messages.error(request, _("Leave the customer's dashboard first: the new workspace would be your own."))
            return redirect("app:home")
        return refusal

    def find(self, **ids: Any) -> None:
        agency = host_agency(self.request) or self._agency_of_current()
        if agency is None or not may_add_workspace(user=self.user, agency=agency):
            raise WorkspaceNotFound
        self.agency = agency

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find()
        return super().get(request) if agency_has_room(self.agency) else self._full()

    def make_form(self, data: Any = None) -> BusinessForm:
        return BusinessForm(data)

    def save(self, form: BusinessForm) -> HttpResponse:
        if NEW_WORKSPACES.count(str(self.user.pk)):
            raise TooManyAtOnce
        try:
            workspace = add_workspace(
                agency=self.agency,
                user=self.user,
                business=form.described,
                now=now(),
                by=user_actor(self.request, self.user, of_workspace=True),
            )
        except (SubAccountLimitReached, NoFurtherWorkspaces):
            return self._full()
        choose_workspace(self.request, self.user, workspace)
        return self.done(_("%(name)s is ready.") % {"name": workspace.name}, in_order(dashboard_menu)[0].url_name)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        return render(self.request, template, {"agency": self.agency, **context}, status=status)

    def _agency_of_current(self) -> Agency | None:
        current = find_current_workspace(self.request, self.user)
        return current.agency if current else None

    def _full(self) -> HttpResponse:
        return self.page("sign_up/no_room.html", status=403)
