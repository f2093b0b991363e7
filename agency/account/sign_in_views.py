"""Pages to sign in with password and code, to sign out, and to set a forgotten password."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, logout
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.forms import CodeForm, NewPasswordForm, RecoveryCodeForm, ResetForm, SignInForm
from agency.account.invitations import INVITATIONS, open_invitations_for
from agency.account.sign_in import (
    RESETS_FROM_ADDRESS,
    SIGN_INS_TO_ACCOUNT,
    PendingSignIn,
    account_digest,
    address_bucket,
    complete_sign_in,
    landing_page_of,
    local_path,
    pending_sign_in,
    reset_code_throttle,
    reset_sign_in_throttle,
    sign_in,
    throttle_code,
    throttle_password_link,
    throttle_sign_in,
    too_many_sign_ins,
    too_many_tries,
)
from agency.models import User
from agency.pages.branding import host_agency, host_agency_id
from agency.pages.form_drafts import OUTCOME_PARAMETER, SIGNED_OUT
from agency.request_actor import user_actor
from agency.services.passwords import (
    PASSWORD_TOKENS,
    LinkUsed,
    only_agency_id_of,
    queue_password_reset_request,
    set_password,
)
from agency.services.two_factor import CodeIsWrong, use_code_or_recovery_code
from config.db import database_now


def next_or_landing_url(request: HttpRequest, user: User) -> str:
    """Return the page that `next` names if it is local, else this person's landing page."""
    return next_url(request) or landing_page_of(user, host_agency_id(request))


def next_url(request: HttpRequest) -> str:
    return local_path(request.POST.get("next") or request.GET.get("next") or "")


@method_decorator([never_cache, sensitive_post_parameters("password")], name="dispatch")
class SignIn(View):
    """Gives unknown addresses, wrong passwords and closed accounts the same answer."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            return redirect(next_or_landing_url(request, request.user))
        return self._show(SignInForm())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        form = SignInForm(request.POST)
        if not form.is_valid():
            return self._show(form, status=422)
        email = form.cleaned_data["email"].lower()
        seconds = throttle_sign_in(request, email)
        if seconds:
            return self._refuse_for(seconds, form)
        user = authenticate(request, username=email, password=form.cleaned_data["password"])
        if not isinstance(user, User):
            form.add_error(None, _("The e-mail address or the password is wrong."))
            return self._show(form, status=422)
        reset_sign_in_throttle(request, email)
        response = sign_in(request, user, to=next_url(request))
        if request.user.is_authenticated:
            mention_invitations(request, user, to=response["Location"])
        return response

    def _refuse_for(self, seconds: int, form: SignInForm) -> HttpResponse:
        form.add_error(None, too_many_sign_ins(seconds))
        response = self._show(form, status=429)
        response["Retry-After"] = str(seconds)
        return response

    def _show(self, form: SignInForm, status: int = 200) -> HttpResponse:
        signed_out = self.request.POST.get(OUTCOME_PARAMETER) or self.request.GET.get(OUTCOME_PARAMETER, "")
        context: dict[str, object] = {
            "form": form,
            "next": self.request.POST.get("next") or self.request.GET.get("next", ""),
            "signed_out": signed_out,
            "signed_out_text": SIGNED_OUT.get(signed_out),
        }
        return render(self.request, "account/sign_in.html", context, status=status)


def mention_invitations(request: HttpRequest, user: User, *, to: str) -> None:
    """Mention open invitations in a message; the person still arrives where they were going."""
    if to != reverse(INVITATIONS) and open_invitations_for(user, host_agency_id(request)).exists():
        messages.info(request, _("You have an invitation to answer. See “Your account”."))


@never_cache
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session on the server; a GET only redirects to the sign-in page."""
    if request.method != "POST":
        return redirect(settings.LOGIN_URL)
    logout(request)
    messages.success(request, _("You are signed out."))
    return redirect(settings.LOGIN_URL)


@method_decorator([never_cache, sensitive_post_parameters("code")], name="dispatch")
class SignInCode(View):
    """Asks for the code. Wrong and used codes get the same answer; after too many, the page says how long to wait."""

    http_method_names = ["get", "head", "post"]
    form_class: type[CodeForm] = CodeForm
    is_recovery = False
    user: User
    pending: PendingSignIn

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        self.now = database_now()
        found = pending_sign_in(request, now=self.now)
        if found is None:
            messages.info(request, _("Sign in with your password first. You enter the code after that."))
            return redirect("account:sign-in")
        self.user, self.pending = found
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(self.form_class())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.form_class(request.POST)
        if not form.is_valid():
            return self._show(form, status=422)
        seconds = throttle_code(request, self.user, now=self.now)
        if seconds:
            return self._refuse_for(seconds, form)
        by, agency = user_actor(request, self.user), host_agency(request)
        code = form.cleaned_data["code"]
        if not use_code_or_recovery_code(user=self.user, code=code, now=self.now, by=by, agency=agency):
            form.add_error("code", CodeIsWrong.message)
            return self._show(form, status=422)
        reset_code_throttle(request, self.user)
        pending = self.pending
        response = complete_sign_in(
            request, self.user, to=pending.to, is_to_support=pending.is_to_support, has_shown_code=True
        )
        mention_invitations(request, self.user, to=response["Location"])
        return response

    def _refuse_for(self, seconds: int, form: CodeForm) -> HttpResponse:
        form.add_error(None, too_many_tries(seconds))
        response = self._show(form, status=429)
        response["Retry-After"] = str(seconds)
        return response

    def _show(self, form: CodeForm, status: int = 200) -> HttpResponse:
        context = {"form": form, "email": self.user.email, "is_recovery": self.is_recovery}
        return render(self.request, "account/security/code.html", context, status=status)


class SignInRecoveryCode(SignInCode):
    form_class = RecoveryCodeForm
    is_recovery = True


@method_decorator(never_cache, name="dispatch")
class PasswordReset(View):
    """Answers every address alike; one requester can send an account at most three e-mails in 15 minutes."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "account/password_reset.html", {"form": ResetForm()})

    def post(self, request: HttpRequest) -> HttpResponse:
        form = ResetForm(request.POST)
        status = 422
        if form.is_valid():
            email = form.cleaned_data["email"]
            if not RESETS_FROM_ADDRESS.count(address_bucket(request)):
                if throttle_password_link(request, email):
                    queue_password_reset_request(email=email, agency=host_agency(request))
                return redirect("account:password-reset-sent")
            status = 429
            form.add_error(None, _("Too many requests from your network. Try again in 15 minutes."))
        return render(request, "account/password_reset.html", {"form": form}, status=status)


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class SetPassword(PasswordResetConfirmView):
    """Moves the link's token from the address to the session; only setting the password uses the token up.

    The person is then signed in, as the link has proved that the e-mail address is theirs. On an agency's host the link
    works only for people who belong to that agency and no other; if they no longer do, an older link is refused there.
    """

    template_name = "account/set_password.html"
    form_class = NewPasswordForm
    token_generator = PASSWORD_TOKENS
    reset_url_token = "choose"  # noqa: S105 - stands in the address where the token was
    user: User

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(*args, **kwargs) if self._is_here() else self._refuse()
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _is_here(self) -> bool:
        agency_id = host_agency_id(self.request)
        person = None if agency_id is None else self.get_user(self.kwargs["uidb64"])
        return person is None or only_agency_id_of(person) == agency_id

    def _refuse(self) -> HttpResponse:
        return render(self.request, self.template_name, {"validlink": False}, status=410)

    def get_user(self, uidb64: str) -> User | None:
        user: User | None = super().get_user(uidb64)
        return user if user and user.is_active else None

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        token = self.request.session.pop(INTERNAL_RESET_SESSION_TOKEN, "")
        try:
            set_password(
                user=self.user,
                token=token,
                password=form.cleaned_data["new_password1"],
                keep=self.request.session.session_key,
                by=user_actor(self.request, self.user),
            )
        except LinkUsed:
            return self._refuse()
        reset_sign_in_throttle(self.request, self.user.email)
        SIGN_INS_TO_ACCOUNT.reset(account_digest(self.user.email))
        self.user.refresh_from_db()
        messages.success(self.request, _("Your password is set. You are signed out everywhere else."))
        return sign_in(self.request, self.user)

    def render_to_response(self, context: dict[str, Any], **options: object) -> HttpResponse:
        status = 410 if not context["validlink"] else 422 if context["form"].errors else 200
        return super().render_to_response(context, **{**options, "status": status})
