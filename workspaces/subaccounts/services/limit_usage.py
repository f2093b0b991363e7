"""How much of each limit a sub-account uses, and which sub-accounts have nearly used one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Count, F
from django.utils import timezone

from agency import limits
from agency.models import Agency
from agency.services.notifications.recording import NewNotificationEvent, check_next_rows, close_states, open_states
from agency.tenants import Tenant
from config.hooks import Registry
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services.members import used_seats
from workspaces.subaccounts.services.notifications import NEAR_LIMIT, WORKSPACE_NEAR_LIMIT
from workspaces.subaccounts.services.recording import tenant_of

# Usage: each app counts its own objects.


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


def count_usage(workspace: Workspace) -> dict[str, int]:
    """Count the use of each limit, by its dotted name."""
    used = dict.fromkeys(limits.NAMES, 0)
    for source in usage_sources:
        used |= source.count(workspace)
    return used


def usage_against_limits(workspace: Workspace) -> dict[str, object]:
    """Give `{used, limit}` for each limit, nested like the limits themselves. None means no limit."""
    used = count_usage(workspace)
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


# A sub-account is near a limit on a type of channel at nine tenths of it. Limits below `LEAST_LIMIT` do not count:
# small limits are meant to be used up, as a customer with one number uses it.
NEAR_LIMITS_QUERY = """
SELECT workspace.uuid, workspace.name, 'channels.' || channel.platform, count(*),
    (workspace.limits #>> ARRAY['channels', channel.platform])::bigint AS allowed
FROM subaccounts_workspace workspace
JOIN subaccounts_channel channel ON channel.workspace_id = workspace.id AND channel.status <> 'disconnected'
WHERE workspace.agency_id = %(agency)s AND workspace.status = 'active'
    AND (workspace.limits #>> ARRAY['channels', channel.platform])::bigint >= %(least)s
GROUP BY workspace.id, channel.platform
HAVING count(*) * 10 >= (workspace.limits #>> ARRAY['channels', channel.platform])::bigint * 9
ORDER BY count(*) DESC, workspace.id
LIMIT %(most)s
"""
# For an agency with more sub-accounts than this, the home page leaves this out, so that it does not count them all.
MOST_COUNTED = 2_000
LEAST_LIMIT = 5


@dataclass(frozen=True, slots=True)
class NearLimit:
    """A sub-account that uses `used` of `allowed`. `limit` is the limit's dotted name."""

    uuid: UUID
    name: str
    limit: str
    used: int
    allowed: int


def sub_accounts_near_limits(*, agency: Agency, most: int) -> list[NearLimit]:
    """Give some sub-accounts that have used nine tenths of a channel limit; none for a very large agency."""
    if agency.sub_account_count > MOST_COUNTED:
        return []
    with connection.cursor() as cursor:
        cursor.execute(NEAR_LIMITS_QUERY, {"agency": agency.pk, "least": LEAST_LIMIT, "most": most})
        return [NearLimit(*row) for row in cursor.fetchall()]


CHECK_NAME: Final = "workspace_limits"
CHECKED_AT_ONCE: Final = 50
# From the end of one pass to the next.
CHECKED_EVERY: Final = timedelta(minutes=15)


def check_workspace_limits(now: datetime) -> bool:
    """Check the next batch of sub-accounts. Says whether this pass goes on."""
    return check_next_rows(
        CHECK_NAME,
        Workspace.objects.all(),
        partial(_check, now=now),
        now=now,
        batch=CHECKED_AT_ONCE,
        every=CHECKED_EVERY,
    )


def _check(workspaces: Sequence[Workspace], *, now: datetime) -> None:
    near: list[tuple[Workspace, str, dict[str, object]]] = []
    ended: set[str] = set()
    nearly: set[int] = set()
    for workspace in workspaces:
        used = count_usage(workspace) if workspace.is_active and _is_limited(workspace.limits) else {}
        for name in limits.NAMES:
            allowed = limits.value(workspace.limits, name)
            number = used.get(name, 0)
            if allowed and allowed >= LEAST_LIMIT and number * 5 >= allowed * 4:
                nearly.add(workspace.pk)
            if not allowed or allowed < LEAST_LIMIT or number * 20 < allowed * 17:
                ended.add(_key(workspace, name))
            elif number * 10 >= allowed * 9:
                near.append((workspace, name, {"limit": name, "used": number, "allowed": allowed}))
    for kind, of_agency in ((NEAR_LIMIT, True), (WORKSPACE_NEAR_LIMIT, False)):
        open_states(kind, [_occurrence(*one, of_agency=of_agency) for one in near], now=now)
        close_states(kind, ended, now=now)
    _mark(workspaces, nearly)


def _mark(workspaces: Sequence[Workspace], nearly: Collection[int]) -> None:
    """Keep which sub-accounts have used four fifths of a limit. One that is being changed is left to the next pass."""
    changed = [one.pk for one in workspaces if one.is_near_limit is not (one.pk in nearly)]
    if changed:
        rows = Workspace.objects.select_for_update(skip_locked=True, no_key=True).filter(pk__in=changed)
        free = list(rows.values_list("pk", flat=True))
        Workspace.objects.filter(pk__in=free).update(is_near_limit=~F("is_near_limit"))


def _is_limited(held: Mapping[str, object]) -> bool:
    return any((limits.value(held, name) or 0) >= LEAST_LIMIT for name in limits.NAMES)


def _occurrence(workspace: Workspace, name: str, data: dict[str, object], *, of_agency: bool) -> NewNotificationEvent:
    return NewNotificationEvent(
        tenant=Tenant(workspace.agency_id) if of_agency else tenant_of(workspace),
        key=_key(workspace, name),
        object_id=str(workspace.uuid),
        data={**data, "workspace": workspace.name},
    )


def _key(workspace: Workspace, name: str) -> str:
    return f"{workspace.uuid}:{workspace.agency_id}:{name}"
