"""Tags and filters for the pages' templates: times, numbers, activity, notifications, the nonce of forms."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django import template
from django.forms import BaseForm
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agency.account.sessions import JOINED_BY, UNKNOWN
from agency.models import ActivityEntry, Notification
from agency.notification_kinds import label_of, notification_kinds, sentence_of
from agency.pages import activity
from agency.pages.activity import ShownChange
from agency.pages.branding import host_agency
from agency.pages.forms import new_nonce
from agency.pages.registry import StrOrPromise
from agency.services import open_sign_up_of
from config.formats import (
    Number,
    format_day,
    format_day_time,
    format_days,
    format_number,
    format_percent,
    format_period,
    format_relative,
    format_time,
    format_times,
    format_weekday_time,
    format_zone,
)

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


@register.filter
def browser_name(stored: str) -> str:
    """Write what `describe_browser` has stored in the reader's language: the names of products stay."""
    browser, joint, system = stored.partition(JOINED_BY)
    if joint:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return _("Unknown browser") if stored in ("", UNKNOWN) else stored


DAYS_OF_A_WEEK = 7


@register.filter
def when(moment: datetime) -> SafeString:
    """Write how long ago a moment was; pointer and touch show the exact time, by the viewer's clock.

    It is for rows: screen readers read its title, and Tab does not stop at each row's time.
    """
    return _time_ago(moment, tabindex=-1)


@register.filter
def when_alone(moment: datetime) -> SafeString:
    """Write a time that is no row's as `when` does. Tab stops there and shows the exact time."""
    return _time_ago(moment, tabindex=0)


def _time_ago(moment: datetime, *, tabindex: int) -> SafeString:
    local = timezone.localtime(moment)
    exact = f"{format_day_time(local, seconds=True)} {format_zone(local)}"
    return format_html(
        '<time class="when" tabindex="{}" datetime="{}" title="{}" data-exact="{}">{}</time>',
        tabindex,
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
        return format_time(local)
    if 0 < days < DAYS_OF_A_WEEK:
        return format_day(local, "E")
    return format_day(local, "MMMd" if local.year == today.year else "yMMMd")


def ago(moment: datetime) -> str:
    now = timezone.now()
    return _("just now") if now - moment < timedelta(minutes=1) else format_relative(moment, now)


@register.filter
def relative(moment: datetime) -> str:
    """Write how long ago a moment was, or when it will be: `in 3 hours`."""
    return format_relative(moment, timezone.now())


@register.filter(expects_localtime=True)
def day(moment: date | None, skeleton: str = "yMMMd") -> str:
    """Write a day as the language does: `3 Nov 2026`, or the parts that a skeleton of CLDR names."""
    return format_day(moment, skeleton) if moment else ""


@register.filter(expects_localtime=True)
def day_time(moment: datetime | None, skeleton: str = "yMMMd") -> str:
    """Write a day and a time, such as `3 Nov 2026, 09:05`; the skeleton is the day's."""
    return format_day_time(moment, skeleton) if moment else ""


@register.filter(expects_localtime=True)
def day_time_zone(moment: datetime) -> str:
    """Write a day and a time with the clock's zone: `3 Nov 2026, 09:05 UTC`."""
    return f"{format_day_time(moment)} {format_zone(moment)}"


@register.filter
def wall_clock(written: str) -> str:
    """Write a day and a time of no zone, which is stored as text."""
    return format_day_time(datetime.fromisoformat(written))


@register.filter(expects_localtime=True)
def weekday_time(moment: datetime) -> str:
    """Write a moment of the coming week, such as `Tue 09:05`."""
    return format_weekday_time(moment)


@register.filter(expects_localtime=True)
def clock_time(moment: datetime) -> str:
    """Write a time of day, such as `09:05`."""
    return format_time(moment)


@register.filter(expects_localtime=True)
def clock_time_zone(moment: datetime) -> str:
    """Write a time of day with the clock's zone: `09:05 UTC`."""
    return f"{format_time(moment)} {format_zone(moment)}"


@register.filter(expects_localtime=True)
def times_until(begins: datetime, ends: datetime) -> str:
    """Write a part of a day, by the clock of its beginning: `09:05-10:00`."""
    return format_times(begins, ends.astimezone(begins.tzinfo))


@register.filter(expects_localtime=True)
def period_until(begins: datetime, ends: datetime) -> str:
    """Write a period, by the clock of its beginning: `Mon, 23 Nov 2026, 09:05-10:00`."""
    return format_period(begins, ends.astimezone(begins.tzinfo), "yMMMEd")


@register.simple_tag
def days(first: date, last: date, skeleton: str = "yMMMd") -> str:
    """Write the days from the first to the last: `23-29 Nov 2026`."""
    return format_days(first, last, skeleton)


@register.filter
def number(value: Number | None, decimals: int | None = None) -> str:
    """Write a number with separated thousands, with this many decimals."""
    return "" if value is None or value == "" else format_number(value, decimals)


@register.filter
def percent(value: Number | None, decimals: int | None = None) -> str:
    """Write a percentage: `17%` for 17."""
    return "" if value is None else format_percent(value, decimals)


@register.filter
def amount(limit: int | None) -> str:
    """Write a limit; None means no limit."""
    return _("No limit") if limit is None else number(limit)


@register.filter
def lookup(mapping: Mapping[str, object], key: str) -> object:
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
def sentence_of_kind(kind: str, data: Mapping[str, object]) -> str:
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
