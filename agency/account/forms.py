"""The forms of people who are on their way in."""

from django import forms
from django.utils.translation import gettext_lazy as _

LONGEST_PASSWORD = 4096
NAMES = {"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false", "autofocus": True}


class ResetForm(forms.Form):
    email = forms.EmailField(label=_("E-mail"), max_length=254, widget=forms.EmailInput(attrs=NAMES))


class SignInForm(ResetForm):
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
