"""The console's forms."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from agency import limits
from agency.models import Addon, MailSettings, Member, Plan
from agency.models.branding import LONGEST_HOST
from agency.models.people import LONGEST_LINK
from agency.pages.api_keys import KeyLimitsForm
from agency.pages.forms import EmailField, LineField, MultilineField, NameField
from agency.services.brands import MOST_BYTES, TOO_LARGE
from agency.services.catalogue import CatalogueChanges
from agency.services.mail.settings import LONGEST_SECRET

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

PREFIX = "limit_"


class ColourForm(forms.Form):
    accent = LineField(
        label=_("Colour"),
        required=False,
        max_length=7,
        widget=forms.TextInput(attrs={"placeholder": "#1f6feb", "spellcheck": "false", "autocomplete": "off"}),
        help_text=_(
            "For example #1f6feb. All other colours that your customers see follow from it. "
            "Leave empty for the default colours."
        ),
    )


class LanguageForm(forms.Form):
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("Same as each reader's browser")), *settings.LANGUAGES],
        help_text=_(
            "For pages and e-mails, yours and your customers'. "
            "People who have chosen a language in their account keep it."
        ),
    )


class PictureForm(forms.Form):
    picture = forms.FileField(
        label=_("Picture"),
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
        help_text=_("PNG, JPEG or WebP, up to 1 MiB. A logo is shown up to 240 pixels wide and 80 high."),
    )

    def clean_picture(self) -> "UploadedFile[bytes]":
        file: UploadedFile[bytes] = self.cleaned_data["picture"]
        if (file.size or 0) > MOST_BYTES:
            raise ValidationError(TOO_LARGE)
        return file


class DomainForm(forms.Form):
    """Takes a host, also as an address copied from a browser."""

    host = LineField(
        label=_("Domain"),
        max_length=LONGEST_HOST + len("https://") + 1,
        widget=forms.TextInput(
            attrs={
                "placeholder": "app.example.com",
                "spellcheck": "false",
                "autocapitalize": "none",
                "inputmode": "url",
            }
        ),
        help_text=_("Where your customers sign in, such as app.example.com. You need access to its DNS."),
    )

    def clean_host(self) -> str:
        host: str = self.cleaned_data["host"]
        return host.removeprefix("https://").removeprefix("http://").removesuffix("/")


class CatalogueForm(forms.Form):
    """A plan or an add-on with its limits; each limit is a whole number, or empty for no limit."""

    name = NameField()
    description = MultilineField(
        label=_("Description"), required=False, max_length=500, widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, label in limits.LABELS.items():
            self.fields[field_name(name)] = forms.IntegerField(
                label=label[:1].upper() + label[1:], required=False, min_value=0, max_value=limits.LARGEST
            )

    def limit_fields(self) -> Iterator[BoundField]:
        return (self[field_name(name)] for name in limits.NAMES)

    def other_fields(self) -> list[BoundField]:
        return [self["name"], self["description"]]

    def changes(self) -> CatalogueChanges:
        """Return name, description and limits as the services take them."""
        given = self.cleaned_data
        values = {name: given[field_name(name)] for name in limits.NAMES}
        return {"name": given["name"], "description": given["description"], "limits": limits.build(values)}


def field_name(limit: str) -> str:
    return PREFIX + limit.replace(".", "_")


def catalogue_values(item: Plan | Addon) -> dict[str, object]:
    """Return the initial values of a form about this item."""
    return {"name": item.name, "description": item.description, **limit_values(item.limits)}


def limit_values(held: limits.Limits) -> dict[str, int | None]:
    return {field_name(name): limits.value(held, name) for name in limits.NAMES}


class KeyForm(KeyLimitsForm):
    name = NameField(help_text=_("The system that uses this key, for example “CRM sync” or “Zapier”."))
    can_copy = forms.BooleanField(
        label=_("May copy automations out of sub-accounts"),
        required=False,
        help_text=_("Needed to build packs from your customers' automations. Leave it off for everything else."),
    )
    can_make_keys = forms.BooleanField(
        label=_("May create API keys for sub-accounts"),
        required=False,
        help_text=_("Anyone with this key can read and change everything in your customers' workspaces."),
    )
    field_order = ["name", "can_copy", "can_make_keys", "expires_at", "allowed_networks"]


ROLE_DESCRIPTIONS = {
    Member.Role.OWNER: _("Does everything, and manages the team."),
    Member.Role.ADMIN: _("Manages sub-accounts, the catalogue and API keys."),
    Member.Role.VIEWER: _("Sees everything and changes nothing."),
}
ROLES = [(role.value, role.label) for role in Member.Role]


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=ROLES, widget=forms.RadioSelect)


class InvitationForm(RoleForm):
    name = LineField(label=_("Name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    email = EmailField()
    field_order = ["name", "email", "role"]


class TwoFactorForm(forms.Form):
    """The roles that must use two-factor; empty if no role must."""

    roles = forms.MultipleChoiceField(
        label=_("Two-factor is required for"),
        choices=Member.Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "People with these roles have to set up an authenticator app before they can do anything else. "
            "API keys work as before."
        ),
    )


def _link(label: "str | _StrPromise", help_text: "str | _StrPromise") -> LineField:
    return LineField(
        label=label,
        required=False,
        max_length=LONGEST_LINK,
        help_text=help_text,
        widget=forms.URLInput(attrs={"placeholder": "https://", "autocomplete": "off", "spellcheck": "false"}),
    )


class SignUpForm(forms.Form):
    """The settings for customers who sign up by themselves. The service checks the addresses."""

    is_on = forms.BooleanField(
        label=_("Customers can sign up"),
        required=False,
        help_text=_("On your own domain. They get their workspace when they have confirmed their e-mail address."),
    )
    allows_further_workspaces = forms.BooleanField(
        label=_("Customers can add workspaces"),
        required=False,
        help_text=_("Customers who have a workspace can add another from the dashboard's menu, with the same plan."),
    )
    terms_url = _link(_("Address of your terms"), _("New customers have to agree to them. Leave empty for none."))
    privacy_url = _link(_("Address of your privacy notice"), _("Leave empty for none."))

    def __init__(self, *args: Any, plans: "QuerySet[Plan]", **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["plan"] = forms.ModelChoiceField(
            plans,
            to_field_name="uuid",
            required=False,
            label=_("Default plan"),
            empty_label=_("None"),
            help_text=_("Every new workspace gets this plan unless another is named. The same goes for the API."),
        )
        self.order_fields(["is_on", "plan", "allows_further_workspaces", "terms_url", "privacy_url"])


PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class SenderForm(forms.Form):
    sender_name = LineField(
        label=_("Sender's name"),
        required=False,
        max_length=120,
        help_text=_("Your customers see this name as the sender. Leave empty for your agency's name."),
    )
    reply_to = EmailField(
        label=_("Replies go to"), required=False, help_text=_("Where your customers' replies arrive.")
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
        help_text=_("We keep it encrypted and never show it again."),
    )
    from_address = EmailField(
        label=_("Sender's address"),
        help_text=_("An address that this server may send from, such as hello@example.com."),
    )

    def __init__(self, *arguments: Any, has_password: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if has_password:
            self.fields["password"].help_text = _(
                "Leave empty to keep the current password. We keep it encrypted and never show it."
            )

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
