"""Filters that write values for people: times, numbers, values out of a mapping."""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from django import template
from django.template.defaultfilters import date as format_date
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import get_language
from django.utils.translation import gettext as _

register = template.Library()
MINUTE = 60
DAYS_OF_A_WEEK = 7
# Up to here the different lengths of the months make no difference.
SAME_IN_EVERY_MONTH = timedelta(days=28)


@register.filter
def when(moment: datetime) -> SafeString:
    """Write how long ago a moment was; pointer, focus or touch show the exact time, by the viewer's clock."""
    local = timezone.localtime(moment)
    exact = f"{local.day} {_month(local.month, get_language())} {local:%Y, %H:%M:%S %Z}"
    return format_html(
        '<time class="when" tabindex="0" datetime="{}" title="{}" data-exact="{}">{}</time>',
        moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        exact,
        exact,
        ago(moment),
    )


@register.filter
def brief(moment: datetime) -> str:
    """Write in a few letters when something was, by the clock of the page: today the time, else the day."""
    local, today = timezone.localtime(moment), timezone.localdate()
    days = (today - local.date()).days
    if days == 0:
        return format_date(local, "H:i")
    if 0 < days < DAYS_OF_A_WEEK:
        return format_date(local, "D")
    return format_date(local, "j M" if local.year == today.year else "j M Y")


@lru_cache(maxsize=256)
def _month(month: int, language: str | None) -> str:
    return format_date(date(2000, month, 1), "M")


def ago(moment: datetime) -> str:
    now = timezone.now()
    passed = now - moment
    if passed < timedelta(minutes=1):
        return _("just now")
    if passed < SAME_IN_EVERY_MONTH:
        return _minutes_ago(int(passed.total_seconds()) // MINUTE, get_language())
    return _since(moment, now)


@lru_cache(maxsize=4096)
def _minutes_ago(minutes: int, language: str | None) -> str:
    """Write so many minutes, from a cache: the rows of a list, and of the next page, are often of the same day."""
    now = timezone.now()
    return _since(now - timedelta(minutes=minutes), now)


def _since(moment: datetime, now: datetime) -> str:
    return _("%(time)s ago") % {"time": timesince(moment, now, depth=1)}


@register.filter
def number(value: int) -> str:
    """Write a whole number with separated thousands."""
    return _written(value, get_language())


@lru_cache(maxsize=4096, typed=True)
def _written(value: int, language: str | None) -> str:
    """Write a number, from a cache: pages repeat the same few, and a chart's table alone has a hundred of them."""
    return number_format(value, use_l10n=True, force_grouping=True)


@register.filter
def amount(limit: int | None) -> str:
    """Write a limit; None means no limit."""
    return _("No limit") if limit is None else number(limit)


@register.filter
def lookup(mapping: dict[str, Any], key: str) -> Any:
    """Look up a key whose name only the template knows."""
    return mapping.get(key, "")
