"""Support's panel with an agency's recent broadcasts and their failed sends."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.urls import reverse
from django.utils import timezone

from agency.models import Agency
from agency.pages.support import SupportPanel, SupportRow
from broadcasts.models import Broadcast
from broadcasts.services.counts import counts_of
from broadcasts.services.moving import BROKE_OFF

SHOWN_FOR: Final = timedelta(days=7)


def recent_broadcasts(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the broadcasts that began within a week, newest first, by the index on `started_at`."""
    begun = Broadcast.objects.of_agency(agency).filter(started_at__gte=timezone.now() - SHOWN_FOR)
    rows = list(begun.select_related("workspace").order_by("-started_at")[:most])
    counts = counts_of(rows)
    for broadcast in rows:
        failed = counts[broadcast.pk]["failed"]
        has_broken_off = broadcast.paused_reason == BROKE_OFF
        parts = [str(broadcast.workspace), str(broadcast.get_status_display()), f"{failed:,} sends failed"]
        if has_broken_off:
            parts.append("its preparation broke off")
        yield SupportRow(
            title=broadcast.name,
            detail=" · ".join(parts),
            url=reverse("admin:broadcasts_broadcast_change", args=[broadcast.pk]),
            is_problem=failed > 0 or has_broken_off,
        )


PANELS: Final = (
    SupportPanel(
        name="broadcasts",
        label="Broadcasts of the last 7 days",
        order=18,
        permission="broadcasts.view_broadcast",
        rows=recent_broadcasts,
    ),
)
