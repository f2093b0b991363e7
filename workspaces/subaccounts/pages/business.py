"""The form fields about a business: its name, type and time zone."""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.renderers import BaseRenderer
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import LineField, LongSelect, NameField, options_of
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


@lru_cache(maxsize=1)
def _zones_by_text() -> dict[str, str]:
    """Give the zones by their names in lower case, and by the city alone if only one zone has that city."""
    by_city: dict[str, list[str]] = defaultdict(list)
    for zone in known_zones():
        by_city[zone.rpartition("/")[2].lower()].append(zone)
    cities = {city: zones[0] for city, zones in by_city.items() if len(zones) == 1}
    return cities | {zone.lower(): zone for zone in known_zones()}


class ZoneInput(forms.TextInput):
    """A text field that proposes time zones while a person types."""

    def render(
        self, name: str, value: object, attrs: Mapping[str, object] | None = None, renderer: BaseRenderer | None = None
    ) -> SafeString:
        listed = f"{name}-zones"
        field = super().render(name, value, {**(attrs or {}), "list": listed}, renderer)
        return format_html('{}<datalist id="{}">{}</datalist>', field, listed, _proposed_zones())


@lru_cache(maxsize=1)
def _proposed_zones() -> SafeString:
    names = ["UTC", *(zone for _, zones in timezone_choices()[1:] for zone, _ in zones)]
    return format_html_join("", '<option value="{}">', ((name,) for name in names))


class ZoneField(LineField):
    """A time zone by its name, or by its city alone, in any case."""

    widget = ZoneInput

    def __init__(self, **options: Any) -> None:
        attrs = {"autocomplete": "off", "spellcheck": "false"}
        help_text = _("Type a city, such as Berlin, and choose from the list.")
        super().__init__(label=_("Time zone"), max_length=64, help_text=help_text, widget=ZoneInput(attrs), **options)

    def clean(self, value: object) -> str:
        typed = str(super().clean(value))
        zone = _zones_by_text().get("_".join(typed.split()).lower())
        if zone is None:
            raise ValidationError(ZONE_REFUSED)
        return zone


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
