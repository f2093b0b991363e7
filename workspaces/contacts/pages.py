"""The registries of what apps show on the pages of contacts and segments: panels, a timeline's entries, actions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.registry import StrOrPromise, in_order
from config.hooks import Registry
from workspaces.contacts.models import Contact, Segment, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactPanel:
    """A higher app's panel: a template, and a function for its variable `panel`, in a bounded number of statements.

    The contact's `workspace` is set. With `inbox_template` the panel also stands beside the contact's conversation.
    """

    name: str
    order: int
    template: str
    content: Callable[[Contact], Mapping[str, object]]
    inbox_template: str = ""


contact_panels = Registry[ContactPanel](
    "panels on a contact's page",
    called=(
        "`panels_of` calls `content` of each for the dashboard's page of a contact, and `inbox_panels_of` of those "
        "with an `inbox_template` for a conversation, by their `order`"
    ),
    transaction="none",
    failure="the page answers 500",
)


def panels_of(contact: Contact) -> Sequence[tuple[str, Mapping[str, object]]]:
    """Give the template and the content of each panel."""
    return [(one.template, one.content(contact)) for one in in_order(contact_panels)]


def inbox_panels_of(contact: Contact) -> Sequence[tuple[str, Mapping[str, object]]]:
    """Give the template and the content of each panel that also stands beside the contact's conversation."""
    return [(one.inbox_template, one.content(contact)) for one in in_order(contact_panels) if one.inbox_template]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentAction:
    """What a higher app does with a segment: a button on the segment's page. `address` runs no statement."""

    name: str
    label: StrOrPromise
    order: int
    address: Callable[[Segment], str]


segment_actions = Registry[SegmentAction](
    "actions on a segment's page",
    called="`actions_of` calls `address` of each for the page of a segment, by their `order`, if the reader may write",
    transaction="none",
    failure="the page answers 500",
)


def actions_of(segment: Segment) -> Sequence[tuple[StrOrPromise, str]]:
    """Give the label and the address of each action."""
    return [(one.label, one.address(segment)) for one in in_order(segment_actions)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """Something that happened with a contact, and the address of the page about it, if there is one.

    `icon` names a symbol of `console/icons.svg`. `text` is small print below the title, such as a message's text.
    """

    at: datetime
    icon: str
    title: str
    text: str = ""
    state: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineSource:
    """`entries` gives a contact's newest entries before a moment, at most as many as asked, in a few statements.

    The contact's `workspace` is set.
    """

    name: str
    entries: Callable[[Contact, datetime, int], Sequence[TimelineEntry]]


timeline_sources = Registry[TimelineSource](
    "sources of a contact's timeline",
    called="`timeline_of` calls each for the dashboard's page of a contact",
    transaction="none",
    failure="the page answers 500",
)
TIMELINE_PAGE: Final = 25
# Entries of one moment stay on one page, as far as each source can give so many more.
MOST_OF_SOURCE: Final = 2 * TIMELINE_PAGE


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of a contact's timeline, newest first. The page after it has the entries before `older`."""

    entries: Sequence[TimelineEntry]
    older: datetime | None


def timeline_of(contact: Contact, before: datetime) -> Timeline:
    """Give the newest entries before a moment, from all sources."""
    found = [entry for source in timeline_sources for entry in source.entries(contact, before, MOST_OF_SOURCE)]
    found.sort(key=lambda entry: entry.at, reverse=True)
    if len(found) <= TIMELINE_PAGE:
        return Timeline(found, None)
    last = found[TIMELINE_PAGE - 1].at
    shown = [entry for entry in found if entry.at >= last]
    return Timeline(shown, last if len(found) > len(shown) else None)


def own_timeline_entries(contact: Contact, before: datetime, most: int) -> Sequence[TimelineEntry]:
    """Give what this app knows of a contact: when it was added and opted out, and its tasks that are done."""
    known_from = _("Known from: %(source)s.") % {"source": contact.get_opt_out_source_display()}
    entries = [TimelineEntry(at=contact.created_at, icon="person", title=_("Contact added"))]
    if contact.opted_out_at:
        entries.append(TimelineEntry(at=contact.opted_out_at, icon="person", title=_("Opted out"), text=known_from))
    if contact.marketing_opted_out_at:
        entries.append(TimelineEntry(at=contact.marketing_opted_out_at, icon="person", title=_("Wants no marketing")))
    for task in contact.tasks.filter(status=Task.Status.DONE, done_at__lt=before).order_by("-done_at", "-id")[:most]:
        if task.done_at:
            done = _("Done: %(title)s") % {"title": task.title}
            url = reverse("app:task", args=[task.uuid])
            entries.append(
                TimelineEntry(at=task.done_at, icon="checklist", title=done, text=task.done_by_label, url=url)
            )
    return [entry for entry in entries if entry.at < before]
