"""Configuration → Sign-up: whether customers sign up by themselves, with which plan, and what they agree to."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.forms import SignUpForm
from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.models import Plan
from agency.services import change_sign_up, sign_up_settings_of
from agency.services.catalogue import default_plan_of
from agency.services.domains.hosts import base_url_of

TITLE = gettext_lazy("Sign-up")
NAV = "console:sign-up"


class SignUpPage(ConsoleView):
    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        own = base_url_of(self.agency.pk)
        return self.page(
            "agency/sign_up.html",
            settings=sign_up_settings_of(self.agency),
            plan=default_plan_of(self.agency),
            address=own + reverse("sign-up:form") if own != base_url_of(None) else "",
        )


class SignUpEdit(FormPage[SignUpForm]):
    nav = NAV

    def make_form(self, data: Any = None) -> SignUpForm:
        settings = sign_up_settings_of(self.agency)
        plans = Plan.objects.filter(agency=self.agency, archived_at=None).order_by("name_key", "id")
        initial = {
            "is_on": settings.is_on,
            "allows_further_workspaces": settings.allows_further_workspaces,
            "plan": default_plan_of(self.agency),
            "terms_url": settings.terms_url,
            "privacy_url": settings.privacy_url,
        }
        return SignUpForm(data, plans=plans, initial=initial)

    def save(self, form: SignUpForm) -> HttpResponse:
        change_sign_up(agency=self.agency, by=self.by, **form.cleaned_data)
        return self.done(_("The settings were saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Edit sign-up"), "submit": _("Save")}
