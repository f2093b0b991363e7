"""What people change about themselves once they have signed in: their name and their password."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.forms import NameForm
from agency.account.guessing import SIGN_INS_TO_ACCOUNT, account_of
from agency.account.homes import home_of
from agency.models import User
from agency.services.passwords import change_password
from agency.services.people import change_user
from agency.visitors import visitor
from config.api.clients import client_address


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class OwnPage(View):
    """A form about the person who has signed in."""

    http_method_names = ["get", "head", "post"]
    template_name: ClassVar[str]
    user: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.path)
        self.user = request.user
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(self.make_form())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.make_form(request.POST)
        return self.save(form) if form.is_valid() else self.show(form, status=422)

    def make_form(self, data: Any = None) -> Any:
        raise NotImplementedError

    def save(self, form: Any) -> HttpResponse:
        raise NotImplementedError

    def show(self, form: forms.BaseForm, *, status: int = 200) -> HttpResponse:
        context = {"form": form, "person": self.user, "home": home_of(self.user)}
        return render(self.request, self.template_name, context, status=status)

    def done(self, words: str) -> HttpResponse:
        messages.success(self.request, words)
        return redirect("account:profile")


class Profile(OwnPage):
    template_name = "account/profile.html"

    def make_form(self, data: Any = None) -> NameForm:
        return NameForm(data, initial={"name": self.user.name})

    def save(self, form: NameForm) -> HttpResponse:
        change_user(user=self.user, name=form.cleaned_data["name"], by=visitor(self.user, client_address(self.request)))
        return self.done(_("Your name was saved."))


class ChangePassword(OwnPage):
    """Asks for the old password, a bounded number of times; every other session of the person ends."""

    template_name = "account/change_password.html"

    def make_form(self, data: Any = None) -> PasswordChangeForm:
        return PasswordChangeForm(self.user, data)

    def post(self, request: HttpRequest) -> HttpResponse:
        seconds = SIGN_INS_TO_ACCOUNT.wait(account_of(self.user.email))
        if not seconds:
            return super().post(request)
        form = self.make_form({})
        form.full_clean()
        form.errors.clear()
        form.add_error(None, _("Too many tries. Wait %(minutes)s minutes.") % {"minutes": -(-seconds // 60)})
        response = self.show(form, status=429)
        response["Retry-After"] = str(seconds)
        return response

    def save(self, form: PasswordChangeForm) -> HttpResponse:
        password = form.cleaned_data["new_password1"]
        change_password(user=self.user, password=password, by=visitor(self.user, client_address(self.request)))
        self.user.refresh_from_db()
        update_session_auth_hash(self.request, self.user)
        SIGN_INS_TO_ACCOUNT.forget(account_of(self.user.email))
        return self.done(_("Your password was changed. Everywhere else you are signed out."))
