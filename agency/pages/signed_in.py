"""The base of every page for somebody who has signed in: who they are, how a refusal reads."""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views import View

from config.errors import DomainError, NotFound


class SignedInView(View):
    """A page that no cache keeps. Refusals of a rule lead back to the page named `nav`, else `landing_page`."""

    http_method_names = ["get", "head", "post"]
    landing_page: ClassVar[str]
    nav: ClassVar[str] = ""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = self.check_access(request) or self._run(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        """Find out who this is; an answer means that they do not see the page."""
        if request.user.is_authenticated:
            return None
        return redirect_to_login(request.get_full_path() if request.method == "GET" else reverse(self.landing_page))

    def refuse_other(self, made_for: UUID, name: str) -> HttpResponse | None:
        """Forms name what they were made for: one from before a switch in another tab changes nothing."""
        if self.request.POST.get("made_for") in (None, str(made_for)):
            return None
        message = _("You have switched to %(name)s meanwhile. Nothing was changed.")
        messages.error(self.request, message % {"name": name})
        return redirect(self.landing_page)

    def _run(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except NotFound as error:
            raise Http404 from error
        except DomainError as error:
            messages.error(request, error.message)
            return redirect(self.nav or self.landing_page)

    def done(self, message: str, to: str, *args: object) -> HttpResponse:
        """Say what was done and go on to the page named `to`."""
        messages.success(self.request, message)
        return redirect(to, *args)
