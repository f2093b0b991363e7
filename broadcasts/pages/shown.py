"""The content of a page about one broadcast."""

from dataclasses import replace
from typing import Any, Final

from broadcasts.models import Broadcast, Wave
from broadcasts.pages.charts import bars_of, shares_of
from broadcasts.pages.pictures import pictured
from broadcasts.pages.words import COLOURS, ENGAGEMENTS, RECIPIENTS, STATUSES
from broadcasts.services.costs import billed_lines
from broadcasts.services.listing import Progress, with_progress
from broadcasts.services.moving import is_waiting_for_approval

Status = Broadcast.Status
MOST_WAVES: Final = 200
# The page of a moving broadcast reloads after this many milliseconds.
POLL: Final = 4_000
MOVING: Final = (Status.SCHEDULED, Status.SENDING, Status.PAUSED)


def as_ended(broadcast: Broadcast) -> Progress:
    """Return a broadcast's progress. Recipients that a cancelled broadcast still has to skip count as skipped.

    Once all of them are marked, the recipients that are left as pending are being sent at this moment.
    """
    progress: Progress = broadcast.progress
    if broadcast.status != Status.CANCELLED or broadcast.next_due_at is None:
        return progress
    counts = dict(progress.counts)
    counts["skipped"] += counts["pending"]
    return replace(progress, counts={**counts, "pending": 0, "held": 0})


def shown_page(broadcast: Broadcast) -> dict[str, Any]:
    """Return the context for the templates of a broadcast's page."""
    [found] = with_progress([broadcast])
    found.progress = as_ended(found)
    waves = Wave.objects.filter(broadcast_id=found.pk).order_by("due_at").values_list("due_at", "total")
    shown_waves = list(waves[:MOST_WAVES])
    return {
        "broadcast": found,
        "shares": shares_of(found.progress.counts),
        "total": sum(found.progress.counts[status] for status in RECIPIENTS),
        "waves": shown_waves,
        "bars": bars_of(shown_waves),
        "billed": billed_lines(found),
        "status_label": STATUSES[found.status],
        "colour": COLOURS.get(Status(found.status), ""),
        "engagements": ENGAGEMENTS,
        "picture": pictured(found),
        "is_local": found.scheduled_local_at is not None,
        "poll": POLL if found.status in MOVING else 0,
        "is_waiting_for_approval": is_waiting_for_approval(found),
    }
