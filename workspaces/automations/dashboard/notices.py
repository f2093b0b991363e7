"""Notices that higher apps show at automations, in the list and on an automation's page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from config.hooks import Registry
from workspaces.automations.models import Automation


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomationNotice:
    """Something that a higher app says about an automation: a badge for the list, and a sentence with a link."""

    badge: str
    text: str
    url: str
    action: str


@dataclass(frozen=True, slots=True)
class AutomationNoticeSource:
    """`find` gives at most one notice for each of the automations, by their keys."""

    name: str
    find: Callable[[Sequence[Automation]], Mapping[int, AutomationNotice]]


automation_notices = Registry[AutomationNoticeSource](
    "automation notices",
    called="`notices_of` calls `find` of each for the automations of the list and for the one of a page",
    transaction="none",
    failure="the page answers 500",
)


def notices_of(automations: Sequence[Automation]) -> dict[int, list[AutomationNotice]]:
    """Give the notices of higher apps by the automations' keys."""
    found: dict[int, list[AutomationNotice]] = {}
    for source in automation_notices:
        for pk, notice in source.find(automations).items():
            found.setdefault(pk, []).append(notice)
    return found
