"""The sign-up form, and the page that follows it."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.account.sign_in import (
    SIGN_UP_FORMS,
    SIGN_UPS_FROM_ADDRESS,
    address_bucket,
    landing_page_of,
    throttle_sign_up,
)
from agency.models import SignUpSettings, User
from agency.pages.forms import NONCE_FIELD, add_domain_error, new_nonce, read_nonce
from agency.pages.views import OUT_OF_DATE
from agency.services import open_sign_up_of
from config.errors import InvalidInput
from workspaces.subaccounts.public.forms import SignUpForm
from workspaces.subaccounts.public.surface import SignUpView, remember_sign_up
from workspaces.subaccounts.services import SubAccountLimitReached
from workspaces.subaccounts.services.people.signing_up import may_add_workspace, request_sign_up
from workspaces.subaccounts.services.provisioning import agency_has_room

# The user id in the form's nonce: the visitor has not signed in.
NOBODY = 0


class SignUpIfOpen(SignUpView):
    """A page that answers 404 if the agency's sign-up is closed."""

    settings: SignUpSettings

    def enter(self, request: HttpRequest) -> HttpResponseBase | None:
        settings = open_sign_up_of(self.agency)
        if settings is None:
            raise Http404
        self.settings = settings
        return None


class Sent(SignUpIfOpen):
    """The page after the form, the same for everybody."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "sign_up/sent.html", {"agency": self.agency})


class SignUp(SignUpIfOpen):
    """The sign-up form. Known, unknown and unconfirmed e-mail addresses get the same answer.

    A form counts once. From one network address, an e-mail address is sent at most three e-mails in 15 minutes.
    """

    def enter(self, request: HttpRequest) -> HttpResponseBase | None:
        super().enter(request)
        if isinstance(request.user, User):
            may_add = may_add_workspace(user=request.user, agency=self.agency)
            return redirect("app:workspace-new" if may_add else landing_page_of(request.user, self.agency.pk))
        if not agency_has_room(self.agency):
            raise SubAccountLimitReached
        return None

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(SignUpForm(settings=self.settings))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = SignUpForm(request.POST, settings=self.settings)
        if not form.is_valid():
            return self._show(form, status=422)
        nonce = read_nonce(request.POST.get(NONCE_FIELD, ""))
        if nonce is None or nonce.user != NOBODY:
            form.add_error(None, OUT_OF_DATE)
            return self._show(form, status=422)
        if SIGN_UPS_FROM_ADDRESS.count(address_bucket(request)):
            form.add_error(None, _("Too many requests from your network. Try again in a quarter of an hour."))
            return self._show(form, status=429)
        try:
            return self._sign_up(form, nonce.value)
        except InvalidInput as refusal:
            add_domain_error(form, refusal)
            return self._show(form, status=422)

    def _sign_up(self, form: SignUpForm, nonce: str) -> HttpResponse:
        given, response = form.cleaned_data, redirect("sign-up:sent")
        if SIGN_UP_FORMS.count(nonce) or not throttle_sign_up(self.request, given["email"]):
            return response
        made = None
        try:
            made = request_sign_up(
                agency=self.agency,
                name=given["name"],
                email=given["email"],
                password=given["password"],
                business=form.described,
                now=timezone.now(),
            )
        finally:
            if made is None:  # a form that failed does not count, and may be sent again
                SIGN_UP_FORMS.reset(nonce)
        remember_sign_up(response, made)
        return response

    def _show(self, form: SignUpForm, *, status: int = 200) -> HttpResponse:
        sent = self.request.POST.get(NONCE_FIELD, "")
        kept = read_nonce(sent)
        context = {
            "form": form,
            "agency": self.agency,
            "settings": self.settings,
            "nonce": sent if kept and kept.user == NOBODY else new_nonce(NOBODY),
        }
        return render(self.request, "sign_up/sign_up.html", context, status=status)
