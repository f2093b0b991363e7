"""A workspace's settings: their checks, and their values in the texts of automations."""

import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from config.errors import InvalidInput
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.settings.opening_hours import checked_hours, hours_as_text

LINKS = ("website", "booking_link", "review_link", "menu_link")
TEXTS = ("address", "phone", "email", *LINKS)
PHONE = re.compile(r"\+?[0-9(][0-9 ()./-]{4,38}")
is_link = URLValidator(schemes=["http", "https"])


class SettingRefused(InvalidInput):
    """A setting does not have the form that it needs, such as that of a phone number."""


def checked_settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Give the changes in the form in which they are stored. Raises `OpeningHoursRefused`, `SettingRefused`."""
    changes = dict(changes)
    if "opening_hours" in changes:
        changes["opening_hours"] = checked_hours(changes["opening_hours"])
    if changes.get("phone") and not PHONE.fullmatch(changes["phone"]):
        raise SettingRefused("The phone field must be a phone number such as +49 30 1234567.", field="phone")
    for name in LINKS:
        if changes.get(name):
            _check_link(name, changes[name])
    return changes


def _check_link(name: str, link: str) -> None:
    try:
        is_link(link)
    except ValidationError as error:
        words = name.replace("_", " ")
        message = f"The {words} field must be an address that begins with http:// or https://."
        raise SettingRefused(message, field=name) from error


def settings_in_texts(workspace: Workspace) -> dict[str, str]:
    """Give the value of each `{{workspace.…}}` variable by its name. A setting that is not set is empty."""
    texts = {name: getattr(workspace, name) for name in TEXTS}
    return {"name": workspace.name, "opening_hours": hours_as_text(workspace.opening_hours), **texts}
