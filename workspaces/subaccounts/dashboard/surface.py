"""The base of every dashboard page: who may come in, and how a refusal reads."""

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from agency.actors import Actor
from agency.models import User
from agency.visitors import visitor
from config.api.clients import client_address
from config.signed_in import SignedInView
from workspaces.subaccounts.dashboard.navigation import menu
from workspaces.subaccounts.dashboard.places import Place, take_place, workspaces_of
from workspaces.subaccounts.models import Workspace


class CustomerView(SignedInView):
    """A page of the dashboard for whoever has signed in."""

    home = "app:home"
    user: User

    def admit(self, request: HttpRequest) -> HttpResponse | None:
        outside = super().admit(request)
        if outside is None:
            self.user = cast(User, request.user)
        return outside


class DashboardView(CustomerView):
    """A page of one workspace, for its owner."""

    place: Place

    def admit(self, request: HttpRequest) -> HttpResponse | None:
        outside = super().admit(request)
        if outside:
            return outside
        place = take_place(request, self.user)
        if place is None:
            return self._without_place(request)
        self.place = place
        if not place.is_open:
            return render(request, "dashboard/suspended.html", {"place": place}, status=403)
        return self.refuse_other(place.workspace.uuid, place.workspace.name)

    def _without_place(self, request: HttpRequest) -> HttpResponse:
        if not workspaces_of(self.user).exists():
            return render(request, "dashboard/no_workspace.html", status=403)
        back = request.get_full_path() if request.method == "GET" else reverse("app:home")
        return redirect(f"{reverse('app:choose')}?{urlencode({'next': back})}")

    @property
    def workspace(self) -> Workspace:
        return self.place.workspace

    @property
    def by(self) -> Actor:
        return visitor(self.user, client_address(self.request))

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render a page inside the dashboard's frame."""
        frame = {"place": self.place, "brand": self.place.brand, "menu": menu(), "nav": self.nav}
        return render(self.request, template, {**frame, **context}, status=status)
