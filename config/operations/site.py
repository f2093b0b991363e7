"""The support admin's site, with a sign-in of its own."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.attempt_limits import account_digest, allow_sign_ins, sign_in_wait
from agency.account.known_browsers import remember_browser

SIGNED_IN_HERE = "signed_in_to_support"


class SupportSite(admin.AdminSite):
    """Lets in who has signed in on its own page: a console's session opens nothing here."""

    site_header = site_title = "Support"
    index_title = "What support can see and do"
    site_url = None

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and bool(request.session.get(SIGNED_IN_HERE))

    @method_decorator([never_cache, sensitive_post_parameters("password")])
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign in, with the console's own limits on attempts."""
        email = request.POST.get("username", "")
        if request.method == "POST":
            seconds = sign_in_wait(request, email)
            if seconds:
                return self._refuse_for(request, seconds)
            request.user = AnonymousUser()
        response = super().login(request, extra_context)
        if request.method == "POST" and super().has_permission(request):
            allow_sign_ins(request, email)
            remember_browser(request, response, account_digest(email))
            request.session[SIGNED_IN_HERE] = True
        return response

    def password_change(  # type: ignore[override]  # it leads away
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to the one page on which people change their password, with its limit and its entry in the log."""
        return redirect("account:password")

    def _refuse_for(self, request: HttpRequest, seconds: int) -> HttpResponse:
        context = {**self.each_context(request), "title": "Too many tries", "minutes": -(-seconds // 60)}
        response = TemplateResponse(request, "admin/too_many_tries.html", context, status=429)
        response["Retry-After"] = str(seconds)
        return response
