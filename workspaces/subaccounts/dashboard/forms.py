"""Forms of the customers' dashboard about the workspace, its people and its keys."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from agency.pages.api_keys import KeyLimitsForm
from agency.pages.forms import EmailField, LineField, MultilineField
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.services import WorkspaceChanges
from workspaces.subaccounts.services.settings.currencies import CURRENCIES
from workspaces.subaccounts.services.settings.opening_hours import OpeningHoursRefused, day_as_text, read_day

LONGEST_TEXT = 500
LONGEST_NAME = 120
LONGEST_DAY = 120
PREFIX = "opening_hours_"
DAY_LABELS = {
    "monday": _("Monday"),
    "tuesday": _("Tuesday"),
    "wednesday": _("Wednesday"),
    "thursday": _("Thursday"),
    "friday": _("Friday"),
    "saturday": _("Saturday"),
    "sunday": _("Sunday"),
}
OTHERS = ("address", "phone", "email", "website", "booking_link", "review_link", "menu_link", "currency")


def link(label: Any, **options: Any) -> forms.URLField:
    return forms.URLField(label=label, required=False, max_length=LONGEST_TEXT, assume_scheme="https", **options)


class SettingsForm(forms.Form):
    """Opening hours, one line a day, and other facts about the business that automations may use."""

    address = MultilineField(
        label=_("Address"), required=False, max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 2})
    )
    phone = LineField(label=_("Phone number"), required=False, max_length=40, widget=forms.TextInput({"type": "tel"}))
    email = EmailField(required=False)
    website = link(_("Website"))
    booking_link = link(_("Booking link"), help_text=_("Where customers book by themselves."))
    review_link = link(_("Review link"), help_text=_("Where customers write a review."))
    menu_link = link(_("Link to the menu"))
    currency = forms.ChoiceField(label=_("Currency"), choices=[(code, code) for code in CURRENCIES])

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        held: dict[str, Any] = {name: getattr(workspace, name) for name in OTHERS}
        hours = {f"{PREFIX}{day}": day_as_text(intervals) for day, intervals in workspace.weekly_hours.items()}
        options["initial"] = {**held, **hours}
        super().__init__(*args, **options)
        for day in DAYS:
            self.fields[f"{PREFIX}{day}"] = LineField(
                label=DAY_LABELS[day], required=False, max_length=LONGEST_DAY,
                widget=forms.TextInput({"placeholder": "09:00-17:00", "autocomplete": "off"}),
            )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        self.hours: dict[str, list[list[str]]] = {}
        for day in DAYS:
            try:
                self.hours[day] = read_day(day, self.cleaned_data.get(f"{PREFIX}{day}", ""))
            except OpeningHoursRefused as refusal:
                self.add_error(f"{PREFIX}{day}", refusal.message)
        return self.cleaned_data

    def day_fields(self) -> Iterator[BoundField]:
        return (self[f"{PREFIX}{day}"] for day in DAYS)

    def other_fields(self) -> Iterator[BoundField]:
        return (self[name] for name in OTHERS)

    def changes(self) -> WorkspaceChanges:
        """Give the values that `change_workspace` takes."""
        given = self.cleaned_data
        return {
            "opening_hours": self.hours,
            "address": given["address"],
            "phone": given["phone"],
            "email": given["email"],
            "website": given["website"],
            "booking_link": given["booking_link"],
            "review_link": given["review_link"],
            "menu_link": given["menu_link"],
            "currency": given["currency"],
        }


class PersonForm(forms.Form):
    """The person to invite into the workspace."""

    name = LineField(label=_("Name"), max_length=LONGEST_NAME, widget=forms.TextInput({"autocomplete": "off"}))
    email = EmailField()


class KeyForm(KeyLimitsForm):
    """A new API key."""

    name = LineField(
        label=_("Name"),
        max_length=LONGEST_NAME,
        help_text=_("What uses this key, so that you know it again: “Shop”, “Zapier”."),
    )
    field_order = ["name", "expires_at", "allowed_networks"]


class TwoFactorForm(forms.Form):
    required = forms.BooleanField(
        label=_("Two-factor is required"),
        required=False,
        help_text=_("Its owner and its members set up an authenticator app first. API keys work as before."),
    )
