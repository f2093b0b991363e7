"""Tags and filters for the pages' templates: times, numbers, activity, notifications, the nonce of forms."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from django import template
from django.forms import BaseForm
from django.template.defaultfilters import date as format_date
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agency.models import ActivityEntry, Notification
from agency.notification_kinds import label_of, notification_kinds, sentence_of
from agency.pages import activity
from agency.pages.activity import ShownChange
from agency.pages.branding import host_agency
from agency.pages.forms import new_nonce
from agency.pages.registry import StrOrPromise
from agency.services import open_sign_up_of

register = template.Library()


@register.filter
def action_label(action: str) -> StrOrPromise:
    return activity.action_label(action)


@register.filter
def entry_actor(entry: ActivityEntry) -> str:
    return activity.actor_of(entry)


@register.filter
def target_url(entry: ActivityEntry) -> str:
    return activity.target_url(entry)


@register.filter
def entry_details(entry: ActivityEntry) -> Iterator[tuple[str, str]]:
    return activity.details_of(entry)


@register.filter
def entry_changes(entry: ActivityEntry) -> list[ShownChange]:
    return activity.changes_of(entry)


@register.filter
def entry_changes_for_customers(entry: ActivityEntry) -> list[ShownChange]:
    return activity.changes_for_customers(entry)


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


@register.filter
def wrong_fields(form: BaseForm) -> int:
    """Count the fields that the summary of a form's errors sends people to."""
    return sum(bool(field.errors) for field in form.visible_fields())


@register.simple_tag(takes_context=True)
def form_nonce(context: dict[str, Any]) -> str:
    """Return the page's own nonce, for a form that was shown before, or a new nonce."""
    return context.get("nonce") or new_nonce(context["request"].user.pk)


@register.filter
def sentence(row: Notification) -> str:
    """Write what a notification is about."""
    return sentence_of(row.kind, row.event.data)


@register.filter
def sentence_of_line(line: Mapping[str, Any]) -> str:
    """Write what a line of an e-mail is about."""
    return sentence_of(line["kind"], line["data"])


@register.filter
def sentence_of_kind(kind: str, data: Mapping[str, Any]) -> str:
    return sentence_of(kind, data)


@register.filter
def kind_label(name: str) -> str:
    return label_of(name)


@register.filter
def address(row: Notification) -> str:
    """Return the page where the problem is solved; empty if the kind is no longer known."""
    kind = notification_kinds.get(row.kind)
    return kind.address(row.event.object_id) if kind else ""


@register.simple_tag(takes_context=True)
def sign_up_is_open(context: dict[str, Any]) -> bool:
    """Return whether customers can sign up on the requested host."""
    agency = host_agency(context["request"])
    return agency is not None and open_sign_up_of(agency) is not None
