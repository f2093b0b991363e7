"""The pages on which an agency's customers sign up, on the agency's host: the form and the confirmation by e-mail."""

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings as configuration
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from agency.account.forms import LONGEST_PASSWORD
from agency.account.sign_in import (
    SIGN_UP_FORMS,
    SIGN_UP_PASSWORDS,
    SIGN_UPS_FROM_ADDRESS,
    address_bucket,
    landing_page_of,
    sign_in,
    throttle_sign_up,
)
from agency.models import Agency, PendingSignUp, SignUpSettings, User
from agency.pages.branding import host_agency
from agency.pages.forms import NONCE_FIELD, EmailField, LineField, add_domain_error, new_nonce, read_nonce
from agency.pages.views import OUT_OF_DATE
from agency.request_actor import request_actor
from agency.services import open_sign_up_of
from agency.services.mail.content import pending_sign_up_of_link
from agency.services.members import remember_landing
from config.api.requests import parse_uuid
from config.errors import DomainError, InvalidInput
from workspaces.subaccounts.pages.business import BusinessForm, validate_plain_name
from workspaces.subaccounts.services import SubAccountLimitReached
from workspaces.subaccounts.services.signing_up import (
    CONFIRMED_WITHIN,
    EmailAlreadyRegistered,
    SignUpConfirmed,
    SignUpEnded,
    SignUpIsOff,
    WrongPassword,
    check_sign_up,
    check_sign_up_password,
    confirm_sign_up,
    may_add_workspace,
    request_sign_up,
)
from workspaces.subaccounts.services.workspaces import is_below_sub_account_limit


class SignUpForm(BusinessForm):
    """The form of a new customer. `agreed` is there only if the agency links to terms or a privacy policy."""

    name = LineField(label=gettext_lazy("Your name"), max_length=120, widget=forms.TextInput({"autocomplete": "name"}))
    email = EmailField(
        widget=forms.EmailInput({"autocomplete": "email", "autocapitalize": "none", "spellcheck": "false"})
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=password_validators_help_text_html(),
    )
    agreed = forms.BooleanField(
        label=gettext_lazy("Terms"), error_messages={"required": gettext_lazy("Without this you cannot sign up.")}
    )

    def __init__(self, *args: Any, settings: SignUpSettings, **options: Any) -> None:
        super().__init__(*args, **options)
        if not settings.has_terms:
            del self.fields["agreed"]
        self.order_fields(["name", "business", "email", "password", "business_type", "timezone", "agreed"])

    def clean_name(self) -> str:
        return validate_plain_name(self.cleaned_data["name"])

    def clean(self) -> dict[str, object]:
        given = super().clean() or self.cleaned_data
        if given.get("password"):
            try:
                validate_password(given["password"], User(email=given.get("email", ""), name=given.get("name", "")))
            except ValidationError as refusal:
                self.add_error("password", refusal)
        return given

    def fields_above(self) -> list[forms.BoundField]:
        """All fields but `agreed`, whose checkbox stands beside links."""
        return [field for field in self if field.name != "agreed"]


class OwnPasswordForm(forms.Form):
    """Asks for the password in another browser, to show that the same person signed up."""

    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        help_text=gettext_lazy(
            "Enter the password that you chose when you signed up, because this is another browser."
        ),
        widget=forms.PasswordInput({"autocomplete": "current-password", "autofocus": True}),
    )


COOKIE_SALT = "workspaces.subaccounts.sign_up"
# The template and the status that answer each error.
ERROR_PAGES: dict[type[DomainError], tuple[str, int]] = {
    SubAccountLimitReached: ("sign_up/full.html", 403),
    SignUpIsOff: ("sign_up/closed.html", 403),
    SignUpConfirmed: ("sign_up/confirmed.html", 410),
    SignUpEnded: ("sign_up/ended.html", 410),
    EmailAlreadyRegistered: ("sign_up/known.html", 409),
}


@method_decorator([never_cache, sensitive_post_parameters("password")], name="dispatch")
class SignUpView(View):
    """A page on an agency's host. On any other host it answers 404."""

    http_method_names = ["get", "head", "post"]
    agency: Agency

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        self.agency = agency_of(request)
        try:
            return self.check_access(request) or super().dispatch(request, *args, **kwargs)
        except tuple(ERROR_PAGES) as refusal:
            return refuse(request, self.agency, refusal)

    def check_access(self, request: HttpRequest) -> HttpResponseBase | None:
        """Answer a visitor who may not see the page; None lets them in. Pages override this."""
        return None


def agency_of(request: HttpRequest) -> Agency:
    """Give the agency of the request's host. Raises `Http404` on the installation's own host."""
    agency = host_agency(request)
    if agency is None:
        raise Http404
    return agency


def refuse(request: HttpRequest, agency: Agency, refusal: DomainError) -> HttpResponse:
    template, status = ERROR_PAGES[type(refusal)]
    return render(request, template, {"agency": agency}, status=status)


def remember_sign_up(response: HttpResponseBase, sign_up: UUID) -> None:
    """Set a cookie that marks this browser as the one that signed up, for as long as the link works."""
    response.set_cookie(
        configuration.SIGN_UP_COOKIE_NAME,
        signing.dumps(str(sign_up), salt=COOKIE_SALT),
        max_age=CONFIRMED_WITHIN,
        secure=configuration.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def sign_up_of_browser(request: HttpRequest) -> UUID | None:
    """Give the uuid of the sign-up that began in this browser, from its cookie."""
    cookie = request.COOKIES.get(configuration.SIGN_UP_COOKIE_NAME, "")
    try:
        return parse_uuid(signing.loads(cookie, salt=COOKIE_SALT, max_age=CONFIRMED_WITHIN))
    except signing.BadSignature:
        return None


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

    def check_access(self, request: HttpRequest) -> HttpResponseBase | None:
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
        except WrongPassword as refusal:
            add_domain_error(form, refusal)
            return 422
        return 0

    def _show(self, *, status: int = 200) -> HttpResponse:
        context = {"agency": self.agency, "sign_up": self.sign_up, "form": self.form}
        return render(self.request, "sign_up/confirm.html", context, status=status)


# The user id in the form's nonce: the visitor has not signed in.
ANONYMOUS_USER_ID = 0


class OpenSignUpView(SignUpView):
    """A page that answers 404 if the agency's sign-up is closed."""

    settings: SignUpSettings

    def check_access(self, request: HttpRequest) -> HttpResponseBase | None:
        settings = open_sign_up_of(self.agency)
        if settings is None:
            raise Http404
        self.settings = settings
        return None


class SignUpSent(OpenSignUpView):
    """The page after the form, the same for everybody."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "sign_up/sent.html", {"agency": self.agency})


class SignUp(OpenSignUpView):
    """The sign-up form. Known, unknown and unconfirmed e-mail addresses get the same answer.

    A form counts once. From one network address, an e-mail address is sent at most three e-mails in 15 minutes.
    """

    def check_access(self, request: HttpRequest) -> HttpResponseBase | None:
        super().check_access(request)
        if isinstance(request.user, User):
            may_add = may_add_workspace(user=request.user, agency=self.agency)
            return redirect("app:workspace-new" if may_add else landing_page_of(request.user, self.agency.pk))
        if not is_below_sub_account_limit(self.agency):
            raise SubAccountLimitReached
        return None

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(SignUpForm(settings=self.settings))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = SignUpForm(request.POST, settings=self.settings)
        if not form.is_valid():
            return self._show(form, status=422)
        nonce = read_nonce(request.POST.get(NONCE_FIELD, ""))
        if nonce is None or nonce.user != ANONYMOUS_USER_ID:
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
            "nonce": sent if kept and kept.user == ANONYMOUS_USER_ID else new_nonce(ANONYMOUS_USER_ID),
        }
        return render(self.request, "sign_up/sign_up.html", context, status=status)


app_name = "sign-up"
urlpatterns = [
    path("sign-up", SignUp.as_view(), name="form"),
    path("sign-up/sent", SignUpSent.as_view(), name="sent"),
    path("sign-up/confirm/<str:token>", open_link, name="confirm-link"),
    path("sign-up/confirm", Confirm.as_view(), name="confirm"),
]
