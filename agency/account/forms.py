"""The forms of people on their way in, and about themselves."""

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.utils.translation import gettext_lazy as _

from agency.pages.fields import NameField

LONGEST_PASSWORD = 4096
NAMES = {"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false", "autofocus": True}


class NameForm(forms.Form):
    name = NameField(label=_("Your name"), widget=forms.TextInput(attrs={"autocomplete": "name"}))


class ResetForm(forms.Form):
    email = forms.EmailField(label=_("E-mail"), max_length=254, widget=forms.EmailInput(attrs=NAMES))


class SignInForm(ResetForm):
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class ErrorsBesideRules:
    """Says what is wrong with a password at the field that shows the rules, not at its repetition."""

    def validate_password_for_user(self, user: Any, password_field_name: str = "") -> None:
        untyped: Any = super()
        untyped.validate_password_for_user(user, "new_password1")


class NewPasswordForm(ErrorsBesideRules, SetPasswordForm):  # type: ignore[type-arg]  # not subscriptable at run time
    pass


class OwnPasswordForm(ErrorsBesideRules, PasswordChangeForm):
    pass
