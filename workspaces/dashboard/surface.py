"""The base of every dashboard page: who may come in, and how a refusal reads."""

from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views import View

from agency.actors import Actor
from agency.models import User
from agency.visitors import visitor
from config.api.clients import client_address
from config.errors import DomainError, NotFound
from workspaces.dashboard.navigation import menu
from workspaces.dashboard.places import Place, take_place, workspaces_of
from workspaces.models import Workspace


class SignedInView(View):
    """A page for whoever has signed in."""

    http_method_names = ["get", "head", "post"]
    user: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = self._admit(request) or self._run(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def _admit(self, request: HttpRequest) -> HttpResponse | None:
        """Find out who this is; an answer means that they stay outside."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path() if request.method == "GET" else reverse("app:home"))
        self.user = request.user
        return None

    def _run(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return super().dispatch(request, *args, **kwargs)


class DashboardView(SignedInView):
    """A page of one workspace, for its owner."""

    nav: ClassVar[str] = ""
    place: Place

    def _admit(self, request: HttpRequest) -> HttpResponse | None:
        outside = super()._admit(request)
        if outside:
            return outside
        place = take_place(request, self.user)
        if place is None:
            return self._without_place(request)
        self.place = place
        if not place.is_open:
            return render(request, "dashboard/suspended.html", {"place": place}, status=403)
        return self._refuse_other_workspace(request)

    def _without_place(self, request: HttpRequest) -> HttpResponse:
        if not workspaces_of(self.user).exists():
            return render(request, "dashboard/no_workspace.html", status=403)
        back = request.get_full_path() if request.method == "GET" else reverse("app:home")
        return redirect(f"{reverse('app:choose')}?{urlencode({'next': back})}")

    def _refuse_other_workspace(self, request: HttpRequest) -> HttpResponse | None:
        """Forms name the workspace they were made for: one from before a switch in another tab changes nothing."""
        made_for = request.POST.get("made_for")
        if made_for is None or made_for == str(self.workspace.uuid):
            return None
        words = _("You have switched to %(workspace)s meanwhile. Nothing was changed.")
        messages.error(request, words % {"workspace": self.workspace.name})
        return redirect("app:home")

    def _run(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super()._run(request, *args, **kwargs)
        except NotFound as error:
            raise Http404 from error
        except DomainError as error:
            messages.error(request, error.message)
            return redirect(self.nav)

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

    def done(self, words: str, to: str, *args: object) -> HttpResponse:
        """Say what was done and go on to the page named `to`."""
        messages.success(self.request, words)
        return redirect(to, *args)
