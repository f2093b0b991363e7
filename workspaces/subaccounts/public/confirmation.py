"""The link in the confirmation e-mail, and the button that creates the person and the workspace."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agency.account.sign_in import SIGN_UP_PASSWORDS, sign_in
from agency.models import PendingSignUp
from agency.pages.forms import add_domain_error
from agency.request_actor import request_actor
from agency.services.mail.content import pending_sign_up_of_link
from agency.services.members import remember_landing
from config.api.requests import parse_uuid
from workspaces.subaccounts.public.forms import OwnPasswordForm
from workspaces.subaccounts.public.surface import SignUpView, agency_of, refuse, sign_up_of_browser
from workspaces.subaccounts.services.people.signing_up import (
    PasswordIsAnother,
    SignUpConfirmed,
    SignUpEnded,
    check_sign_up,
    check_sign_up_password,
    confirm_sign_up,
)

SESSION_KEY = "sign_up"


@never_cache
@require_safe
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Store the link's sign-up in the session, so that the token leaves the address. Confirms nothing."""
    agency, sign_up = agency_of(request), pending_sign_up_of_link(token)
    if sign_up is None or sign_up.agency_id != agency.pk:
        return refuse(request, agency, SignUpEnded())
    request.session[SESSION_KEY] = str(sign_up.uuid)
    response = redirect("sign-up:confirm")
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


class Confirm(SignUpView):
    """Confirms by a button, because programs that check links open them. Another browser must give the password too."""

    sign_up: PendingSignUp
    form: OwnPasswordForm | None

    def enter(self, request: HttpRequest) -> HttpResponseBase | None:
        began_here = sign_up_of_browser(request)
        found = self._find(parse_uuid(request.session.get(SESSION_KEY, "")))
        if found is None:
            # On a second click the session from before the sign-in is gone.
            used = self._find(began_here)
            raise SignUpConfirmed if used and used.confirmed_at else SignUpEnded
        self.sign_up = found
        self.form = None
        if began_here != found.uuid:
            self.form = OwnPasswordForm(request.POST if request.method == "POST" else None)
        check_sign_up(sign_up=found, now=timezone.now())
        return None

    def _find(self, uuid: UUID | None) -> PendingSignUp | None:
        if uuid is None:
            return None
        return PendingSignUp.objects.select_related("agency").filter(uuid=uuid, agency=self.agency).first()

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if self.form is not None:
            status = self._check_password(self.form)
            if status:
                return self._show(status=status)
        by = request_actor(request, kind="user", id="", label=self.sign_up.email, of_workspace=True)
        workspace = confirm_sign_up(sign_up=self.sign_up, now=timezone.now(), by=by)
        request.session.pop(SESSION_KEY, None)
        remember_landing(user=workspace.owner, landing="app", workspace_uuid=workspace.uuid)
        return sign_in(request, workspace.owner, to=reverse("app:home"))

    def _check_password(self, form: OwnPasswordForm) -> int:
        """Check the password. Gives 0 if it is right, else adds the error to the form and gives the HTTP status."""
        if not form.is_valid():
            return 422
        seconds = SIGN_UP_PASSWORDS.count(self.sign_up.uuid.hex)
        if seconds:
            form.add_error(None, _("Too many tries. Wait %(minutes)s minutes.") % {"minutes": -(-seconds // 60)})
            return 429
        try:
            check_sign_up_password(sign_up=self.sign_up, password=form.cleaned_data["password"])
        except PasswordIsAnother as refusal:
            add_domain_error(form, refusal)
            return 422
        return 0

    def _show(self, *, status: int = 200) -> HttpResponse:
        context = {"agency": self.agency, "sign_up": self.sign_up, "form": self.form}
        return render(self.request, "sign_up/confirm.html", context, status=status)
