"""How much of each limit a sub-account uses. Each app counts its own objects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.utils import timezone

from agency import limits
from config.hooks import Registry
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services.people.members import used_seats


@dataclass(frozen=True, slots=True)
class UsageSource:
    """One app's numbers by the dotted names of limits, such as `channels.whatsapp`. A name left out counts as 0."""

    name: str
    count: Callable[[Workspace], Mapping[str, int]]


usage_sources = Registry[UsageSource](
    "sources of usage",
    called="`usage` calls each for the check of limits, the pages of limits and the API's usage",
    transaction="the caller's in the check of limits, else none",
    failure="rolls the caller back; a page or the API answers 500",
)


def usage(workspace: Workspace) -> dict[str, int]:
    """Count the use of each limit, by its dotted name."""
    used = dict.fromkeys(limits.NAMES, 0)
    for source in usage_sources:
        used |= source.count(workspace)
    return used


def usage_against_limits(workspace: Workspace) -> dict[str, Any]:
    """Give `{used, limit}` for each limit, nested like the limits themselves. None means no limit."""
    used = usage(workspace)
    pairs = {name: {"used": used[name], "limit": limits.value(workspace.limits, name)} for name in limits.NAMES}
    channels = {kind: pairs[f"channels.{kind}"] for kind in limits.CHANNEL_TYPES}
    return {**{name: pairs[name] for name in limits.COUNTS}, "channels": channels}


def used_channels(workspace: Workspace) -> dict[str, int]:
    """Count the channels of each type. Disconnected channels take no room."""
    connected = workspace.channels.exclude(status=Channel.Status.DISCONNECTED)
    counted = connected.order_by().values_list("platform").annotate(Count("id"))
    return {f"channels.{platform}": number for platform, number in counted}


def used_team_members(workspace: Workspace) -> dict[str, int]:
    """Count the team members. The owner counts as one, and invited people take a seat already."""
    return {"team_members": used_seats(workspace, timezone.now())}
