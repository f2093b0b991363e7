"""Pages on which signed-in people change their profile and their password."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django import forms
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from agency.account.forms import ChangePasswordForm, ProfileForm
from agency.account.sign_in import PASSWORD_CHANGES, landing_page_of, too_many_tries
from agency.models import User
from agency.pages.branding import host_agency_id, remember_locale
from agency.pages.form_drafts import pop_form_draft
from agency.pages.forms import add_domain_error
from agency.pages.views import SignedInView
from agency.request_actor import user_actor
from agency.services.members import change_user
from agency.services.passwords import change_password
from config.errors import DomainError


@method_decorator(sensitive_post_parameters(), name="dispatch")
class AccountFormView(SignedInView):
    """A page with a form about the signed-in person."""

    landing_page = "account:profile"
    template_name: ClassVar[str]

    @property
    def user(self) -> User:
        return cast(User, self.request.user)

    def get(self, request: HttpRequest) -> HttpResponse:
        kept = pop_form_draft(request, request.path)
        return self.show(self.make_form(kept.data if kept else None))

    def post(self, request: HttpRequest) -> HttpResponse:
        seconds = self.wait()
        if seconds:
            return self._refuse_for(seconds)
        form = self.make_form(request.POST)
        if form.is_valid():
            try:
                return self.save(form)
            except DomainError as error:
                add_domain_error(form, error)
        return self.show(form, status=422)

    def wait(self) -> int:
        """Count an attempt where attempts are limited; return the seconds to wait if it is over the limit, else 0."""
        return 0

    def context(self) -> dict[str, object]:
        """Return what the page shows besides the form."""
        return {}

    def _refuse_for(self, seconds: int) -> HttpResponse:
        form = self.make_form({})
        form.full_clean()
        form.errors.clear()
        form.add_error(None, too_many_tries(seconds))
        response = self.show(form, status=429)
        response["Retry-After"] = str(seconds)
        return response

    def make_form(self, data: Mapping[str, object] | None = None) -> forms.BaseForm:
        """Make the page's form, bound to `data` if it is given. Each page overrides this."""
        raise NotImplementedError

    def save(self, form: Any) -> HttpResponse:
        """Do what the valid form asks for, and return the response. Each page overrides this."""
        raise NotImplementedError

    def show(self, form: forms.BaseForm, *, status: int = 200) -> HttpResponse:
        context = {"form": form, "user": self.user, "back": landing_page_of(self.user, host_agency_id(self.request))}
        return render(self.request, self.template_name, {**context, **self.context()}, status=status)


class Profile(AccountFormView):
    template_name = "account/profile.html"
    keeps_form_data = True

    def make_form(self, data: Mapping[str, object] | None = None) -> ProfileForm:
        user = self.user
        names = ("name", "language", "time_zone", "plays_sound")
        return ProfileForm(data, initial={name: getattr(user, name) for name in names})

    def save(self, form: ProfileForm) -> HttpResponse:
        chosen = form.cleaned_data
        user = change_user(
            user=self.user,
            name=chosen["name"],
            language=chosen["language"],
            time_zone=chosen["time_zone"],
            plays_sound=chosen["plays_sound"],
            by=user_actor(self.request, self.user),
        )
        remember_locale(self.request, user)
        with translation.override(user.language or translation.get_language()):
            return self.done(_("Your account was saved."), self.landing_page)


class ChangePassword(AccountFormView):
    """Asks for the old password, with a limit on attempts; all other sessions of the person end."""

    template_name = "account/change_password.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ChangePasswordForm:
        return ChangePasswordForm(self.user, data)

    def wait(self) -> int:
        return PASSWORD_CHANGES.count(str(self.user.pk))

    def save(self, form: ChangePasswordForm) -> HttpResponse:
        password = form.cleaned_data["new_password1"]
        keep = self.request.session.session_key
        change_password(user=self.user, password=password, keep=keep, by=user_actor(self.request, self.user))
        self.user.refresh_from_db()
        update_session_auth_hash(self.request, self.user)
        PASSWORD_CHANGES.reset(str(self.user.pk))
        return self.done(_("Your password was changed. You are signed out everywhere else."), self.landing_page)
