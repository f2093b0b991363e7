"""The form fields about a business: its name, type and time zone."""

from functools import lru_cache
from itertools import groupby
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import LongSelect, NameField, options_of
from agency.services.agencies import MESSAGE, holds_web_address
from config.api.text_fields import known_zones
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.services.signing_up import NewBusiness

ZoneChoices = list[tuple[str, Any]]
ZONE_REFUSED = _("Time zone not recognised. Choose one from the list.")
BUSINESS_TYPES = [("", _("Not specified")), *BusinessType.choices]


@lru_cache(maxsize=1)
def timezone_choices() -> ZoneChoices:
    """Give the time zones by region, UTC first."""
    zones_by_name = sorted(zone for zone in known_zones() if "/" in zone and not zone.startswith("Etc/"))
    regions = groupby(zones_by_name, key=lambda zone: zone.split("/")[0])
    return [("UTC", "UTC"), *((region, [(zone, _zone_label(zone)) for zone in zones]) for region, zones in regions)]


def _zone_label(zone: str) -> str:
    return zone.partition("/")[2].replace("_", " ").replace("/", ", ")


def validate_plain_name(name: str) -> str:
    """Give the name back. Raises `ValidationError` for a name that a mail program would turn into a link."""
    if holds_web_address(name):
        raise ValidationError(MESSAGE)
    return name


class ZoneSelect(LongSelect):
    """A select of time zones. Its HTML is cached for each chosen zone, because its page is public."""

    def written(self, chosen: str) -> SafeString:
        return _zones_with(chosen)


@lru_cache(maxsize=64)
def _zones_with(chosen: str) -> SafeString:
    return options_of(timezone_choices(), chosen)


class BusinessForm(forms.Form):
    """A customer's description of a new workspace. A script preselects the browser's time zone."""

    business = NameField(label=_("Name of the business"), widget=forms.TextInput({"autocomplete": "organization"}))
    business_type = forms.ChoiceField(label=_("Business type"), required=False, choices=BUSINESS_TYPES)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        guess = {} if self.is_bound else {"data-guess-time-zone": ""}
        self.fields["timezone"] = forms.ChoiceField(
            label=_("Time zone"),
            choices=timezone_choices(),
            initial="UTC",
            widget=ZoneSelect(guess),
            error_messages={"invalid_choice": ZONE_REFUSED},
        )

    def clean_business(self) -> str:
        return validate_plain_name(self.cleaned_data["business"])

    @property
    def described(self) -> NewBusiness:
        given = self.cleaned_data
        return NewBusiness(name=given["business"], business_type=given["business_type"], timezone=given["timezone"])
