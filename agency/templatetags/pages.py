"""Filters of the pages' templates: times, numbers, what a log entry says."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django import template
from django.template.defaultfilters import date as format_date
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from agency.models import ActivityEntry
from agency.pages import activity
from agency.pages.registry import MenuEntry, StrOrPromise

register = template.Library()
MINUTE = 60


@register.filter
def when(moment: datetime) -> SafeString:
    """Say how long ago a moment was; the exact one, in UTC, is its title."""
    exact = moment.astimezone(UTC)
    text = format_date(exact, "j M Y, H:i:s")
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', exact.strftime("%Y-%m-%dT%H:%M:%SZ"), text, ago(moment)
    )


def ago(moment: datetime) -> str:
    now = timezone.now()
    if (now - moment).total_seconds() < MINUTE:
        return _("just now")
    return _("%(time)s ago") % {"time": timesince(moment, now, depth=1)}


@register.filter
def number(value: int) -> str:
    """Write a whole number with its thousands set apart."""
    return f"{value:,}"


@register.filter
def amount(limit: int | None) -> str:
    """Write a limit; None is no limit."""
    return _("No limit") if limit is None else f"{limit:,}"


@register.filter
def action_label(action: str) -> StrOrPromise:
    return activity.action_label(action)


@register.filter
def target_url(entry: ActivityEntry) -> str:
    return activity.target_url(entry)


@register.filter
def entry_details(entry: ActivityEntry) -> Iterator[tuple[str, str]]:
    return activity.details_of(entry)


@register.filter
def menu_url(entry: MenuEntry) -> str:
    return reverse(entry.url_name)


@register.filter
def item(mapping: dict[str, Any], key: str) -> Any:
    """Look a key up whose name only the template knows."""
    return mapping.get(key, "")
