"""The plan's monthly limit of broadcasts, by the workspace's calendar."""

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils import timezone

from broadcasts.models import Broadcast
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import require_room

LIMIT = "broadcasts_per_month"


def take_room(workspace: Workspace, *, now: datetime) -> None:
    """Refuse a broadcast beyond the limit. Raises `LimitReached`.

    The caller holds the workspace's lock, and counts the broadcast in the same transaction.
    """
    require_room(workspace=workspace, name=LIMIT, used=count_of_month(workspace, now=now))


def count_of_month(workspace: Workspace, *, now: datetime) -> int:
    """Count the broadcasts that were scheduled this month and not cancelled before they began."""
    first = now.astimezone(ZoneInfo(workspace.timezone)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return Broadcast.objects.of(workspace).filter(counted_at__gte=first).count()


def used_broadcasts(workspace: Workspace) -> Mapping[str, int]:
    """Count the usage of the plan's limit of broadcasts."""
    return {LIMIT: count_of_month(workspace, now=timezone.now())}
