"""The registry of panels on a contact's page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agency.pages.registry import in_order
from config.hooks import Registry
from workspaces.contacts.models import Contact


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactPanel:
    """A higher app's panel: a template, and a function for its variable `panel`, in a bounded number of statements.

    The contact's `workspace` is set. With `inbox_template` the panel also stands beside the contact's conversations.
    """

    name: str
    order: int
    template: str
    content: Callable[[Contact], Mapping[str, Any]]
    inbox_template: str = ""


contact_panels = Registry[ContactPanel](
    "panels on a contact's page",
    called=(
        "`panels_of` calls `content` of each for the dashboard's page of a contact, `inbox_panels_of` of some for the "
        "inbox, by their `order`"
    ),
    transaction="none",
    failure="the page answers 500",
)


def panels_of(contact: Contact) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Give the template and the content of each panel."""
    return [(one.template, one.content(contact)) for one in in_order(contact_panels)]


def inbox_panels_of(contact: Contact) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Give the template and the content of each panel that the inbox shows."""
    return [(one.inbox_template, one.content(contact)) for one in in_order(contact_panels) if one.inbox_template]
