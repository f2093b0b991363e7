"""Forms of the sign-up pages."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agency.account.forms import LONGEST_PASSWORD
from agency.models import SignUpSettings, User
from agency.pages.forms import EmailField, LineField
from workspaces.subaccounts.pages.business import BusinessForm, plain_name


class SignUpForm(BusinessForm):
    """The form of a new customer. `agreed` is there only if the agency links to terms or a privacy policy."""

    name = LineField(label=_("Your name"), max_length=120, widget=forms.TextInput({"autocomplete": "name"}))
    email = EmailField(
        widget=forms.EmailInput({"autocomplete": "email", "autocapitalize": "none", "spellcheck": "false"})
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=password_validators_help_text_html(),
    )
    agreed = forms.BooleanField(label=_("Terms"), error_messages={"required": _("Without this you cannot sign up.")})

    def __init__(self, *args: Any, settings: SignUpSettings, **options: Any) -> None:
        super().__init__(*args, **options)
        if not settings.has_terms:
            del self.fields["agreed"]
        self.order_fields(["name", "business", "email", "password", "business_type", "timezone", "agreed"])

    def clean_name(self) -> str:
        return plain_name(self.cleaned_data["name"])

    def clean(self) -> dict[str, Any]:
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
        label=_("Password"),
        strip=False,
        max_length=LONGEST_PASSWORD,
        help_text=_("The one with which you signed up: this is another browser."),
        widget=forms.PasswordInput({"autocomplete": "current-password", "autofocus": True}),
    )
