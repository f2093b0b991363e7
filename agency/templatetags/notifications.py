"""Filters that write notifications in the reader's language."""

from collections.abc import Mapping
from typing import Any

from django import template

from agency.models import Notification
from agency.notification_kinds import label_of, notification_kinds, sentence_of

register = template.Library()


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
