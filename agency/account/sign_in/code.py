"""The sign-in step after the password: a code from the person's app, or a recovery code."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.forms import CodeForm, RecoveryCodeForm
from agency.account.sign_in.attempt_limits import allow_codes, code_wait
from agency.account.sign_in.signing_in import PendingSignIn, complete_sign_in, pending_sign_in
from agency.account.sign_in.views import mention_invitations
from agency.models import User
from agency.pages.branding.host import host_agency
from agency.request_actor import user_actor
from agency.services.people.two_factor import CodeIsWrong, use_either_code
from config.db import database_now


@method_decorator([never_cache, sensitive_post_parameters("code")], name="dispatch")
class SignInCode(View):
    """Asks for the code. Wrong and used codes get the same answer; after too many, the page says how long to wait."""

    http_method_names = ["get", "head", "post"]
    form_class: type[CodeForm] = CodeForm
    is_recovery = False
    user: User
    pending: PendingSignIn

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.now = database_now()
        found = pending_sign_in(request, now=self.now)
        if found is None:
            messages.info(request, _("Sign in with your password first: the code is asked for right after it."))
            return redirect("account:sign-in")
        self.user, self.pending = found
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(self.form_class())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.form_class(request.POST)
        if not form.is_valid():
            return self._show(form, status=422)
        seconds = code_wait(request, self.user, now=self.now)
        if seconds:
            return self._refuse_for(seconds, form)
        by, agency = user_actor(request, self.user), host_agency(request)
        code = form.cleaned_data["code"]
        if not use_either_code(user=self.user, code=code, now=self.now, by=by, agency=agency):
            form.add_error("code", CodeIsWrong.message)
            return self._show(form, status=422)
        allow_codes(request, self.user)
        pending = self.pending
        response = complete_sign_in(
            request, self.user, to=pending.to, is_to_support=pending.is_to_support, has_shown_code=True
        )
        mention_invitations(request, self.user, to=response["Location"])
        return response

    def _refuse_for(self, seconds: int, form: CodeForm) -> HttpResponse:
        form.add_error(None, _("Too many tries. Wait %(minutes)s minutes.") % {"minutes": -(-seconds // 60)})
        response = self._show(form, status=429)
        response["Retry-After"] = str(seconds)
        return response

    def _show(self, form: CodeForm, status: int = 200) -> HttpResponse:
        context = {"form": form, "email": self.user.email, "is_recovery": self.is_recovery}
        return render(self.request, "account/security/code.html", context, status=status)


class SignInRecoveryCode(SignInCode):
    form_class = RecoveryCodeForm
    is_recovery = True
