"""The base classes of the dashboard's pages: they check access and answer refusals."""

from typing import Any, ClassVar, cast
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _

from agency.actors import Actor
from agency.models import User
from agency.notification_kinds import NotificationKind, kinds_for
from agency.pages.branding import host_agency_id, prefer_language_of, theme_of_agency
from agency.pages.form_drafts import latest_form_draft
from agency.pages.notifications import unread_counter
from agency.pages.registry import dashboard_menu, render_menu
from agency.pages.views import FormOf, FormView, SignedInView, has_shown_code, two_factor_required_page
from agency.request_actor import user_actor
from agency.tenants import Audience
from workspaces.subaccounts.dashboard.current_workspace import (
    CHANGERS,
    CHOSEN,
    AccessHasEnded,
    CurrentWorkspace,
    Role,
    find_current_workspace,
    workspaces_of,
)
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.people.agency_access import last_entry_of_visit, record_change_by_agency


def inside_dashboard(address: str) -> str:
    """Give the address back if it leads to a page of the dashboard, else an empty text."""
    inside = address.startswith(reverse("app:home")) and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if inside else ""


class CustomerView(SignedInView):
    """A page of the dashboard for people who have signed in."""

    landing_page = "app:home"
    user: User

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        refusal = super().check_access(request)
        if refusal is None:
            self.user = cast(User, request.user)
        return refusal

    @property
    def workspaces(self) -> "QuerySet[Workspace]":
        """The workspaces that the user owns or works in; on an agency's host, only that agency's."""
        return workspaces_of(self.user, host_agency_id(self.request))


class DashboardView(CustomerView):
    """A page of one workspace. Only `writers` may POST; with `writers_only`, only they may open the page."""

    writers: ClassVar[frozenset[Role]] = CHANGERS
    writers_only: ClassVar[bool] = False
    current: CurrentWorkspace

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        refusal = super().check_access(request)
        if refusal:
            return refusal
        kept = latest_form_draft(request)
        if kept and kept.made_for:
            request.session[CHOSEN] = kept.made_for
        try:
            current = find_current_workspace(request, self.user)
        except AccessHasEnded as ended:
            messages.warning(request, _("The customer's dashboard is closed: its hour, or your access to it, is over."))
            return redirect("console:sub-account", ended.workspace)
        if current is None:
            return self._without_workspace(request)
        self.current = current
        prefer_language_of(request, current.agency)
        if not current.is_open:
            return render(request, "subaccounts/suspended.html", {"current": current}, status=403)
        if current.requires_two_factor and not has_shown_code(request):
            back = self.address_of_form(request)
            return self.keep_for_later(two_factor_required_page(request, name=current.workspace.name, back=back))
        if (request.method == "POST" or self.writers_only) and not self.may_write:
            return self._refuse_role()
        return self.refuse_other(current.workspace.uuid, current.workspace.name)

    def handle(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Record each change that agency staff make as customer, unless the service has recorded it."""
        if request.method != "POST" or not self.current.is_opened_by_agency or self.only_looks(request):
            return super().handle(request, *args, **kwargs)
        by = self.by
        before = last_entry_of_visit(workspace=self.workspace, by=by)
        response = super().handle(request, *args, **kwargs)
        if response.status_code < 400 and last_entry_of_visit(workspace=self.workspace, by=by) == before:
            record_change_by_agency(workspace=self.workspace, page=self._name_of_page(request), by=by)
        return response

    def only_looks(self, request: HttpRequest) -> bool:
        """Say whether this POST changes nothing, such as one that shows a form again."""
        return False

    @staticmethod
    def _name_of_page(request: HttpRequest) -> str:
        match = request.resolver_match
        return (match.url_name or "").replace("-", " ").capitalize() if match else ""

    @property
    def may_write(self) -> bool:
        return self.current.role in self.writers

    def _refuse_role(self) -> HttpResponse:
        """Say inside the dashboard's frame that the user's role does not allow this."""
        return self.page("subaccounts/dashboard/refused.html", status=403)

    def _without_workspace(self, request: HttpRequest) -> HttpResponse:
        if not self.workspaces.exists():
            return render(request, "subaccounts/no_workspace.html", status=403)
        back = request.get_full_path() if request.method == "GET" else reverse("app:home")
        return redirect(f"{reverse('app:choose')}?{urlencode({'next': back})}")

    @property
    def workspace(self) -> Workspace:
        return self.current.workspace

    @property
    def area_id(self) -> UUID:
        return self.workspace.uuid

    @property
    def by(self) -> Actor:
        customer = self.current.workspace.name if self.current.is_opened_by_agency else ""
        return user_actor(self.request, self.user, acting_for=customer, of_workspace=not customer)

    @property
    def area_notification_kinds(self) -> list[NotificationKind]:
        """The kinds of notifications that a workspace's users get."""
        return kinds_for(Audience.WORKSPACE)

    @property
    def back_to(self) -> str:
        """The page, named by `next`, that sent the user here to create something it needs; empty without one."""
        return inside_dashboard(self.request.GET.get("next", ""))

    def done(self, message: str, to: str, *args: object) -> HttpResponse:
        """Show the message and redirect to `back_to`, or to the page named `to` if there is none."""
        return super().done(message, self.back_to or to, *(() if self.back_to else args))

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render a page inside the dashboard's frame."""
        frame = {
            "area": "app",
            "frame": "pages/dashboard/base.html",
            "hidden_fields": "pages/dashboard/_hidden_fields.html",
            "current": self.current,
            "look": theme_of_agency(self.current.agency),
            "menu": render_menu("pages/dashboard/_menu.html", dashboard_menu, self.nav),
            "nav": self.nav,
            "unread_count": unread_counter(self.user, self.area_id, self.area_notification_kinds),
            "back_to": self.back_to,
            "may_write": self.may_write,
            "is_answer": self.request.method == "POST",
            "form_to_send_again": self.form_to_send_again(),
        }
        return render(self.request, template, {**frame, **context}, status=status)


class DashboardForm(FormView[FormOf], DashboardView):
    """A page of the dashboard that is a form."""
