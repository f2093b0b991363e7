"""Filters for entries of the activity log."""

from collections.abc import Iterator

from django import template

from agency.models import ActivityEntry
from agency.pages import activity
from agency.pages.activity import changes
from agency.pages.activity.changes import ShownChange
from agency.pages.registry import StrOrPromise

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
    return changes.changes_of(entry)


@register.filter
def entry_changes_for_customers(entry: ActivityEntry) -> list[ShownChange]:
    return changes.changes_for_customers(entry)
