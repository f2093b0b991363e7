"""Forms of Configuration → E-mail."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agency.models import MailSettings
from agency.pages.forms.fields import EmailField, LineField
from agency.services.mail.settings import LONGEST_SECRET

PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class SenderForm(forms.Form):
    sender_name = LineField(
        label=_("Sender's name"),
        required=False,
        max_length=120,
        help_text=_("What your customers see as the sender. Empty for your agency's name."),
    )
    reply_to = EmailField(
        label=_("Answers go to"),
        required=False,
        help_text=_("Where your customers' answers arrive, if they write any."),
    )


class ServerForm(forms.Form):
    """The mail server; its password is never shown, and an empty field keeps it."""

    host = LineField(
        label=_("Server"), max_length=253, widget=forms.TextInput(attrs={**PLAIN, "placeholder": "smtp.example.com"})
    )
    port = forms.IntegerField(
        label=_("Port"), initial=587, min_value=1, max_value=65535, help_text=_("465, 587, or one from 1024 to 65535.")
    )
    security = forms.ChoiceField(
        label=_("Encryption"),
        choices=MailSettings.Security.choices,
        initial=MailSettings.Security.STARTTLS,
        widget=forms.RadioSelect,
    )
    username = LineField(label=_("User name"), required=False, max_length=254, widget=forms.TextInput(attrs=PLAIN))
    password = forms.CharField(
        label=_("Password"),
        required=False,
        strip=False,
        max_length=LONGEST_SECRET,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("Kept encrypted and never shown again."),
    )
    from_address = EmailField(
        label=_("Sender's address"),
        help_text=_("An address that this server may send from, such as hello@example.com."),
    )

    def __init__(self, *arguments: Any, has_password: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if has_password:
            self.fields["password"].help_text = _("Empty keeps the one there is. It is kept encrypted and never shown.")

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        if any(ord(one) < 32 or ord(one) == 127 for one in password):
            raise ValidationError(_("Control characters are not allowed."), code="control")
        return password

    def clean(self) -> None:
        super().clean()
        given = self.cleaned_data
        if given.get("password") and "username" in given and not given["username"]:
            self.add_error("username", _("A password needs a user name."))
