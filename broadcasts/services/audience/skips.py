"""Whether anybody wants to know of each recipient that is skipped."""

from agency.services import subscribed_events
from broadcasts import events
from broadcasts.models import Broadcast


def wants_skips(broadcast: Broadcast) -> bool:
    """Whether an event is wanted for each recipient of a broadcast that is skipped."""
    wanted = subscribed_events([broadcast.workspace_id]).get(broadcast.workspace_id, set())
    return events.RECIPIENT_SKIPPED in wanted
