"""Forms for signing in and for a person's own account."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agency.models import User
from agency.pages.forms import LongSelect, NameField
from config.api.text_fields import known_zones

LONGEST_PASSWORD = 4096
LONGEST_CODE = 40
NAMES = {"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false", "autofocus": True}


class NameForm(forms.Form):
    name = NameField(label=_("Your name"), widget=forms.TextInput(attrs={"autocomplete": "name"}))


class ProfileForm(NameForm):
    """A person's name, language, time zone and sound, which apply wherever they sign in."""

    language = forms.ChoiceField(
        label=_("Language"), required=False, choices=[("", _("Same as your agency or browser")), *settings.LANGUAGES]
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        widget=LongSelect,
        required=False,
        help_text=_("Your pages show all times in this time zone."),
    )
    plays_sound = forms.BooleanField(
        label=_("Play a sound for new messages"),
        required=False,
        help_text=_("While a page of a dashboard is open. Your browser may allow it only after your first click."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        names = sorted(name for name in known_zones() if "/" in name or name == "UTC")
        choices = [("", _("Same as your browser")), *((name, name) for name in names)]
        self.fields["time_zone"].choices = choices  # type: ignore[attr-defined]  # the field is a ChoiceField


class ResetForm(forms.Form):
    email = forms.EmailField(label=_("E-mail"), max_length=254, widget=forms.EmailInput(attrs=NAMES))


class SignInForm(ResetForm):
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class CodeForm(forms.Form):
    """The code that an authenticator app shows."""

    code = forms.CharField(
        label=_("Code"),
        max_length=LONGEST_CODE,
        help_text=_("The six digits that your authenticator app shows now."),
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True, "spellcheck": "false"}
        ),
    )


class RecoveryCodeForm(CodeForm):
    code = forms.CharField(
        label=_("Recovery code"),
        max_length=LONGEST_CODE,
        help_text=_("One of the codes that you saved when you set up two-factor. Each works once."),
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "autofocus": True, "spellcheck": "false"}
        ),
    )


class PasswordForm(forms.Form):
    """Asks a signed-in person for their password once more."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise ValidationError(_("The password is wrong."))
        return password


class PasswordAndCodeForm(PasswordForm):
    code = forms.CharField(
        label=_("Code"),
        max_length=LONGEST_CODE,
        help_text=_("The six digits that your authenticator app shows now, or a recovery code."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "spellcheck": "false"}),
    )


class PasswordErrorsMixin:
    """Shows a password's errors beside the field with the rules, not beside its repetition."""

    def validate_password_for_user(self, user: AbstractBaseUser, password_field_name: str = "") -> None:
        untyped: Any = super()
        untyped.validate_password_for_user(user, "new_password1")


class NewPasswordForm(PasswordErrorsMixin, SetPasswordForm):  # type: ignore[type-arg]  # not subscriptable at run time
    pass


class ChangePasswordForm(PasswordErrorsMixin, PasswordChangeForm):
    pass
