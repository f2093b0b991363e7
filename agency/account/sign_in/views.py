"""Pages to sign in and out."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, logout
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.forms import SignInForm
from agency.account.invitations import INVITATIONS, invitations_to
from agency.account.sign_in.attempt_limits import allow_sign_ins, sign_in_wait
from agency.account.sign_in.landing import landing_page_of
from agency.account.sign_in.signing_in import local_path, sign_in
from agency.models import User
from agency.pages.branding.host import host_agency_id
from agency.pages.forms.kept_data import PARAMETER, SIGNED_OUT


def local_page(request: HttpRequest, user: User) -> str:
    """Return the page that `next` names if it is local, else this person's landing page."""
    return asked_page(request) or landing_page_of(user, host_agency_id(request))


def asked_page(request: HttpRequest) -> str:
    return local_path(request.POST.get("next") or request.GET.get("next") or "")


@method_decorator([never_cache, sensitive_post_parameters("password")], name="dispatch")
class SignIn(View):
    """Gives unknown addresses, wrong passwords and closed accounts the same answer."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            return redirect(local_page(request, request.user))
        return self._show(SignInForm())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        form = SignInForm(request.POST)
        if not form.is_valid():
            return self._show(form, status=422)
        email = form.cleaned_data["email"].lower()
        seconds = sign_in_wait(request, email)
        if seconds:
            return self._refuse_for(seconds, form)
        user = authenticate(request, username=email, password=form.cleaned_data["password"])
        if not isinstance(user, User):
            form.add_error(None, _("The e-mail address or the password is wrong."))
            return self._show(form, status=422)
        allow_sign_ins(request, email)
        response = sign_in(request, user, to=asked_page(request))
        if request.user.is_authenticated:
            mention_invitations(request, user, to=response["Location"])
        return response

    def _refuse_for(self, seconds: int, form: SignInForm) -> HttpResponse:
        message = _("Too many tries. Wait %(minutes)s minutes, or set a new password.")
        form.add_error(None, message % {"minutes": -(-seconds // 60)})
        response = self._show(form, status=429)
        response["Retry-After"] = str(seconds)
        return response

    def _show(self, form: SignInForm, status: int = 200) -> HttpResponse:
        signed_out = self.request.POST.get(PARAMETER) or self.request.GET.get(PARAMETER, "")
        context: dict[str, Any] = {
            "form": form,
            "next": self.request.POST.get("next") or self.request.GET.get("next", ""),
            "signed_out": signed_out,
            "signed_out_text": SIGNED_OUT.get(signed_out),
        }
        return render(self.request, "account/sign_in.html", context, status=status)


def mention_invitations(request: HttpRequest, user: User, *, to: str) -> None:
    """Mention open invitations in a message; the person still arrives where they were going."""
    if to != reverse(INVITATIONS) and invitations_to(user, host_agency_id(request)).exists():
        messages.info(request, _("An invitation waits for your answer: see “Your account”."))


@never_cache
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session on the server; a GET only redirects to the sign-in page."""
    if request.method != "POST":
        return redirect(settings.LOGIN_URL)
    logout(request)
    messages.success(request, _("You are signed out."))
    return redirect(settings.LOGIN_URL)
