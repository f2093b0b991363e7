"""Asking for a link to set a password, and setting one with it."""

from typing import Any

from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.attempt_limits import (
    RESETS_FROM_ADDRESS,
    SIGN_INS_TO_ACCOUNT,
    account_digest,
    address_bucket,
    allow_sign_ins,
    may_be_sent_a_link,
)
from agency.account.forms import NewPasswordForm, ResetForm
from agency.account.known_browsers import remember_browser
from agency.models import User
from agency.request_actor import user_actor
from agency.services.people.passwords import LinkUsed, request_password_reset, set_password


@method_decorator(never_cache, name="dispatch")
class PasswordReset(View):
    """Answers the same for every address; nobody has an account sent more than three e-mails in 15 minutes."""

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
                    request_password_reset(email=email)
                return redirect("account:password-reset-sent")
            status = 429
            form.add_error(None, _("Too many requests from your network. Try again in a quarter of an hour."))
        return render(request, "account/password_reset.html", {"form": form}, status=status)


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class SetPassword(PasswordResetConfirmView):
    """Keeps the link's token in the session and out of the address; only setting the password uses it up."""

    template_name = "account/set_password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("account:password-set")
    reset_url_token = "choose"  # noqa: S105 - stands in the address where the token was
    user: User

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(*args, **kwargs)
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

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
                by=user_actor(self.request, self.user),
            )
        except LinkUsed:
            return render(self.request, self.template_name, {"validlink": False}, status=410)
        account = account_digest(self.user.email)
        allow_sign_ins(self.request, self.user.email)
        SIGN_INS_TO_ACCOUNT.reset(account)
        response = redirect(self.success_url)
        remember_browser(self.request, response, account)
        return response

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        status = 410 if not context["validlink"] else 422 if context["form"].errors else 200
        return super().render_to_response(context, **{**options, "status": status})
