"""The console's own forms."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from agency import limits
from agency.models import Addon, Member, Plan
from agency.pages.fields import EmailField, LineField, MultilineField, NameField
from agency.services.catalogue import CatalogueChanges
from agency.services.pictures import MOST_BYTES, TOO_LARGE

PREFIX = "limit_"


class ColourForm(forms.Form):
    accent = LineField(
        label=_("Colour"),
        required=False,
        max_length=7,
        widget=forms.TextInput(attrs={"placeholder": "#1f6feb", "spellcheck": "false", "autocomplete": "off"}),
        help_text=_("Of the buttons that your customers see, such as #1f6feb. Empty for the usual colour."),
    )


class LogoForm(forms.Form):
    logo = forms.FileField(
        label=_("Picture"),
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
        help_text=_("PNG, JPEG or WebP, up to 1 MiB; shown up to 240 pixels wide and 80 high."),
    )

    def clean_logo(self) -> "UploadedFile[bytes]":
        file: UploadedFile[bytes] = self.cleaned_data["logo"]
        if (file.size or 0) > MOST_BYTES:
            raise ValidationError(TOO_LARGE)
        return file


class CatalogueForm(forms.Form):
    """A plan or an add-on with its limits, each a whole number or empty for no limit."""

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
        """Give name, description and limits as the services take them."""
        given = self.cleaned_data
        values = {name: given[field_name(name)] for name in limits.NAMES}
        return {"name": given["name"], "description": given["description"], "limits": limits.build(values)}


def field_name(limit: str) -> str:
    return PREFIX + limit.replace(".", "_")


def catalogue_values(item: Plan | Addon) -> dict[str, Any]:
    """Give what a form about this item begins with."""
    return {"name": item.name, "description": item.description, **limit_values(item.limits)}


def limit_values(held: limits.Limits) -> dict[str, Any]:
    return {field_name(name): limits.value(held, name) for name in limits.NAMES}


class KeyForm(forms.Form):
    name = NameField(help_text=_("What uses this key, so that you know it again: “CRM sync”, “Zapier”."))
    can_copy = forms.BooleanField(
        label=_("May copy automations out of sub-accounts"),
        required=False,
        help_text=_("Needed to build packs from your customers' automations. Leave it off for everything else."),
    )


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
