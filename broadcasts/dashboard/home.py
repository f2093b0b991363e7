"""Scheduled broadcasts on the dashboard's home page, and broadcasts in the dashboard's search."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext_lazy

from agency.pages.search import SearchResult
from broadcasts.models import Broadcast
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection
from workspaces.subaccounts.pages.search import WorkspaceSearchSource


def _next(workspace: Workspace, now: datetime, most: int) -> HomeContent:
    scheduled = Broadcast.objects.filter(workspace=workspace, status=Broadcast.Status.SCHEDULED)
    rows = [
        HomeRow(
            title=one.name, detail=one.channel.name, at=one.due_at or now, url=reverse("app:broadcast", args=[one.uuid])
        )
        for one in scheduled.select_related("channel").order_by("due_at", "id")[:most]
    ]
    return HomeContent(rows=rows)


NEXT_BROADCASTS: Final = HomeSection(
    name="broadcasts",
    label=gettext_lazy("Next broadcasts"),
    order=40,
    url_name="app:broadcasts",
    content=_next,
    limit="broadcasts_per_month",
)

# The search looks at the names of so many of a workspace's newest broadcasts.
MOST_SEARCHED: Final = 1_000


def _found(workspace: Workspace, query: str, most: int) -> Iterator[SearchResult]:
    own = Broadcast.objects.filter(workspace=workspace).newest_first()
    found = Broadcast.objects.filter(pk__in=own.values("pk")[:MOST_SEARCHED], name__icontains=query).newest_first()
    for one in found[:most]:
        detail = one.get_status_display()
        yield SearchResult(title=one.name, detail=detail, url=reverse("app:broadcast", args=[one.uuid]))


BROADCASTS: Final = WorkspaceSearchSource(
    name="broadcasts", label=gettext_lazy("Broadcasts"), order=30, find=_found, limit="broadcasts_per_month"
)
