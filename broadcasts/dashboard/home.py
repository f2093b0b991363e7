"""Scheduled broadcasts on the dashboard's home page, and broadcasts in the dashboard's search."""

from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext_lazy

from broadcasts.models import Broadcast
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection


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
