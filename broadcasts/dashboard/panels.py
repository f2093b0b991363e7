"""Broadcasts on other pages: the home page, the search, the timeline of a contact, and a segment."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.search import SearchResult
from broadcasts.models import Broadcast, Recipient
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.pages import SegmentAction, TimelineEntry
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


def _compose_for(segment: Segment) -> str:
    return f"{reverse('app:broadcast-new')}?segment={segment.uuid}"


SEND_TO_SEGMENT: Final = SegmentAction(
    name="broadcasts", label=gettext_lazy("Send a broadcast"), order=10, address=_compose_for
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


# The timeline of a contact -------------------------------------------------------------------------


# Only so many of a workspace's newest broadcasts are searched, each by the recipients' key.
MOST_BROADCASTS: Final = 500
RECEIVED: Final = """
SELECT broadcast.uuid, broadcast.name, recipient.status, recipient.at
FROM (
    SELECT id, uuid, name FROM broadcasts_broadcast
    WHERE workspace_id = %(workspace)s AND started_at IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT %(searched)s
) AS broadcast
CROSS JOIN LATERAL (
    SELECT status, coalesce(sent_at, claimed_at, failed_at, created_at) AS at FROM broadcasts_recipient
    WHERE broadcast_id = broadcast.id AND contact_id = %(contact)s
        AND status IN ('sent', 'delivered', 'read', 'failed')
) AS recipient
WHERE recipient.at < %(before)s
ORDER BY recipient.at DESC, broadcast.id DESC LIMIT %(most)s
"""


def broadcasts_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest broadcasts that were sent to a contact before a moment, each with what became of it."""
    values: dict[str, int | datetime] = {
        "workspace": contact.workspace_id,
        "contact": contact.pk,
        "before": before,
        "searched": MOST_BROADCASTS,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(RECEIVED, values)
        rows: list[tuple[UUID, str, str, datetime]] = cursor.fetchall()
    return [
        TimelineEntry(
            at=at,
            icon="broadcast",
            title=_("Broadcast: %(name)s") % {"name": name},
            state=str(Recipient.Status(status).label),
            url=reverse("app:broadcast", args=[uuid]),
        )
        for uuid, name, status, at in rows
    ]
