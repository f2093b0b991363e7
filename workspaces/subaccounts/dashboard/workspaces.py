"""Pages on which a user chooses, switches, adds or leaves a workspace, or leaves a customer's dashboard."""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _

from agency.account.sign_in import NEW_WORKSPACES
from agency.models import Agency
from agency.pages.branding import host_agency
from agency.pages.pagination import paginate, with_id
from agency.pages.registry import dashboard_menu, in_order
from agency.pages.views import FormView
from agency.request_actor import user_actor
from config.api.requests import parse_uuid
from config.errors import Forbidden
from workspaces.subaccounts.dashboard.base import (
    CustomerView,
    choose_workspace,
    find_current_workspace,
    remember_switch,
    safe_dashboard_url,
)
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.agency_access import access_of, leave_access
from workspaces.subaccounts.pages.business import BusinessForm
from workspaces.subaccounts.services import SubAccountLimitReached, WorkspaceNotFound, leave_workspace
from workspaces.subaccounts.services.signing_up import NoFurtherWorkspaces, add_workspace, may_add_workspace
from workspaces.subaccounts.services.workspaces import is_below_sub_account_limit


def next_dashboard_url(request: HttpRequest) -> str:
    """Give the dashboard page that `next` names, else the dashboard's home."""
    asked = safe_dashboard_url(request.POST.get("next") or request.GET.get("next") or "")
    try:
        resolve(unquote(urlsplit(asked).path))
    except Resolver404:
        return reverse("app:home")
    return asked


class ChooseWorkspace(CustomerView):
    """Lists all workspaces of a user; on an agency's host, only that agency's."""

    def get(self, request: HttpRequest) -> HttpResponse:
        rows, pages = paginate(request, self.workspaces)
        if not rows:
            return render(request, "subaccounts/no_workspace.html", status=403)
        context = {"rows": rows, "pages": pages, "next": next_dashboard_url(request)}
        return render(request, "subaccounts/choose_workspace.html", context)


class SwitchWorkspace(CustomerView):
    """Enters another of the user's workspaces and keeps the choice in the session.

    It leads to the page that `next` names, or home if the other workspace has no such page.
    """

    form_page = "app:choose"

    def post(self, request: HttpRequest) -> HttpResponse:
        asked = parse_uuid(request.POST.get("workspace", ""))
        chosen = self.workspaces.filter(uuid=asked).first() if asked else None
        if chosen is None:
            messages.error(request, _("This workspace is not yours."))
            return redirect("app:home")
        choose_workspace(request, self.user, chosen)
        address = next_dashboard_url(request)
        remember_switch(request, address)
        return redirect(address)


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


class AgencyAccessEnd(CustomerView):
    form_page = "app:home"

    def post(self, request: HttpRequest) -> HttpResponse:
        if access_of(request, self.user) is None:
            return redirect(self.landing_page)
        workspace = leave_access(request, self.user)
        if workspace is None:
            return redirect("console:home")
        message = _("You have left the dashboard of %(name)s.") % {"name": workspace.name}
        return self.done(message, "console:sub-account", workspace.uuid)


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
            messages.error(
                request, _("Leave the customer's dashboard first, because the new workspace would be yours.")
            )
            return redirect("app:home")
        return refusal

    def find(self, **ids: UUID | None) -> None:
        agency = host_agency(self.request) or self._agency_of_current()
        if agency is None or not may_add_workspace(user=self.user, agency=agency):
            raise WorkspaceNotFound
        self.agency = agency

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find()
        return super().get(request) if is_below_sub_account_limit(self.agency) else self._full()

    def make_form(self, data: Mapping[str, object] | None = None) -> BusinessForm:
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

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        return render(self.request, template, {"agency": self.agency, **context}, status=status)

    def _agency_of_current(self) -> Agency | None:
        current = find_current_workspace(self.request, self.user)
        return current.agency if current else None

    def _full(self) -> HttpResponse:
        return self.page("sign_up/no_room.html", status=403)
