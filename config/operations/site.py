"""The support admin's site, with a separate sign-in page."""

from typing import Final, cast

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.sign_in import SIGNED_IN_TO_SUPPORT, reset_sign_in_throttle, sign_in, throttle_sign_in
from agency.models import User
from agency.pages.search import start_panels
from agency.pages.views import has_shown_code, two_factor_required_page

FIELD_NAMES: Final = {
    "max_sub_accounts": "maximum number of sub-accounts",
    "participants_count": "participants",
    "recipients_count": "recipients",
    "sub_account_count": "number of sub-accounts",
    "unread_count": "unread messages",
}
WORDS: Final = {
    "email": "e-mail",
    "id": "ID",
    "max": "maximum",
    "timezone": "time zone",
    "url": "URL",
    "urls": "URLs",
    "uuid": "UUID",
    "vat": "VAT",
    "workspace": "sub-account",
}


def name_fields() -> None:
    """Name the fields for support's pages, which alone show these names: "UUID", where Django would write "Uuid".

    A name that a model gives its field stays. A migration holds only such names, so that none follows from these.
    """
    for model in apps.get_models():
        for field in model._meta.fields:
            if field.verbose_name == field.name.replace("_", " "):
                words = [WORDS.get(word, word) for word in field.name.split("_")]
                field.verbose_name = FIELD_NAMES.get(field.name, " ".join(words))


class SupportSignIn(LoginView):
    """The admin's sign-in page. A person with two-factor is asked for their code next."""

    template_name = "admin/login.html"
    form_class = AdminAuthenticationForm
    next_page = "admin:index"

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        reset_sign_in_throttle(self.request, user.email)
        return sign_in(self.request, user, to=self.get_success_url(), is_to_support=True)


class SupportSite(admin.AdminSite):
    """Lets in people who have signed in on its own page. A console session opens nothing here.

    In production it lets nobody in without two-factor. People without it must set it up first.
    """

    site_header = site_title = "Support"
    index_title = "What support can see and do"
    site_url = None

    def has_permission(self, request: HttpRequest) -> bool:
        is_enough = has_shown_code(request) or not settings.SUPPORT_NEEDS_TWO_FACTOR
        return self._has_signed_in(request) and is_enough

    def _has_signed_in(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and bool(request.session.get(SIGNED_IN_TO_SUPPORT))

    def index(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> TemplateResponse:
        """Show the search, then what is suspended, failing or broken among all agencies, then the lists."""
        user = cast(User, request.user)
        found = {"start_panels": start_panels(user.has_perm), "may_find": user.has_perm("agency.view_agency")}
        return super().index(request, {**found, **(extra_context or {})})

    @method_decorator([never_cache, sensitive_post_parameters("password")])
    def login(  # type: ignore[override]  # it answers with whatever the page for everybody does
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponseBase:
        """Sign in, with the console's limits on attempts."""
        if request.method == "POST":
            seconds = throttle_sign_in(request, request.POST.get("username", ""))
            if seconds:
                return self._refuse_for(request, seconds)
            request.user = AnonymousUser()
        elif self.has_permission(request):
            return redirect("admin:index")
        elif self._has_signed_in(request):
            return two_factor_required_page(request, name=str(self.site_title), back=reverse("admin:index"))
        context = {**self.each_context(request), "title": "Log in", "subtitle": None}
        # The page says who has signed in without being let in here.
        username = request.user.get_username()
        context |= {"app_path": request.get_full_path(), "username": username, **(extra_context or {})}
        return SupportSignIn.as_view(extra_context=context)(request)

    def password_change(  # type: ignore[override]  # it leads away
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Redirect to the one page on which people change their password, with its limit and its entry in the log."""
        return redirect("account:password")

    def _refuse_for(self, request: HttpRequest, seconds: int) -> HttpResponse:
        context = {**self.each_context(request), "title": "Too many tries", "minutes": -(-seconds // 60)}
        response = TemplateResponse(request, "admin/too_many_tries.html", context, status=429)
        response["Retry-After"] = str(seconds)
        return response
