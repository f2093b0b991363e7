"""The base of every dashboard page: who may come in, and how a refusal reads."""

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from agency.actors import Actor
from agency.models import User
from agency.pages.form_page import FormOf, FormView
from agency.pages.kept_form_data import kept_form_data
from agency.pages.registry import dashboard_menu, in_sections
from agency.pages.signed_in import SignedInView
from agency.request_actor import user_actor
from workspaces.subaccounts.dashboard.current_workspace import (
    CHOSEN,
    CurrentWorkspace,
    find_current_workspace,
    workspaces_of,
)
from workspaces.subaccounts.models import Workspace


class CustomerView(SignedInView):
    """A page of the dashboard for whoever has signed in."""

    landing_page = "app:home"
    user: User

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        refusal = super().check_access(request)
        if refusal is None:
            self.user = cast(User, request.user)
        return refusal


class DashboardView(CustomerView):
    """A page of one workspace, for its owner."""

    current: CurrentWorkspace

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        refusal = super().check_access(request)
        if refusal:
            return refusal
        kept = kept_form_data(request)
        if kept and kept.made_for:
            request.session[CHOSEN] = kept.made_for
        current = find_current_workspace(request, self.user)
        if current is None:
            return self._without_workspace(request)
        self.current = current
        if not current.is_open:
            return render(request, "subaccounts/suspended.html", {"current": current}, status=403)
        return self.refuse_other(current.workspace.uuid, current.workspace.name)

    def _without_workspace(self, request: HttpRequest) -> HttpResponse:
        if not workspaces_of(self.user).exists():
            return render(request, "subaccounts/no_workspace.html", status=403)
        back = request.get_full_path() if request.method == "GET" else reverse("app:home")
        return redirect(f"{reverse('app:choose')}?{urlencode({'next': back})}")

    @property
    def workspace(self) -> Workspace:
        return self.current.workspace

    @property
    def by(self) -> Actor:
        return user_actor(self.request, self.user)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render a page inside the dashboard's frame."""
        frame = {
            "current": self.current,
            "brand": self.current.brand,
            "menu": in_sections(dashboard_menu),
            "nav": self.nav,
            "is_answer": self.request.method == "POST",
        }
        return render(self.request, template, {**frame, **context}, status=status)


class DashboardForm(FormView[FormOf], DashboardView):
    """A page of the dashboard that is a form."""
