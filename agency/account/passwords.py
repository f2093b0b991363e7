"""Pages to ask for a password link, and to set a password with it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.forms import NewPasswordForm, ResetForm
from agency.account.sign_in.attempt_limits import (
    RESETS_FROM_ADDRESS,
    SIGN_INS_TO_ACCOUNT,
    account_digest,
    address_bucket,
    allow_sign_ins,
    may_be_sent_a_link,
)
from agency.account.sign_in.signing_in import sign_in
from agency.models import User
from agency.pages.branding.host import host_agency, host_agency_id
from agency.request_actor import user_actor
from agency.services.people.agencies import only_agency_id_of
from agency.services.people.password_tokens import PASSWORD_TOKENS
from agency.services.people.passwords import LinkUsed, ask_for_password_reset, set_password


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
                if may_be_sent_a_link(request, email):
                    ask_for_password_reset(email=email, agency=host_agency(request))
                return redirect("account:password-reset-sent")
            status = 429
            form.add_error(None, _("Too many requests from your network. Try again in a quarter of an hour."))
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

    def form_valid(self, form: Any) -> HttpResponse:
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
        allow_sign_ins(self.request, self.user.email)
        SIGN_INS_TO_ACCOUNT.reset(account_digest(self.user.email))
        self.user.refresh_from_db()
        messages.success(self.request, _("Your password is set. Everywhere else you are signed out."))
        return sign_in(self.request, self.user)

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        status = 410 if not context["validlink"] else 422 if context["form"].errors else 200
        return super().render_to_response(context, **{**options, "status": status})
