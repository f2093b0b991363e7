"""Whether a workspace subscribes to events about skipped recipients."""

from agency.services import subscribed_events
from broadcasts import events
from broadcasts.models import Broadcast


def wants_skips(broadcast: Broadcast) -> bool:
    """Whether each skipped recipient of a broadcast needs an event."""
    wanted = subscribed_events([broadcast.workspace_id]).get(broadcast.workspace_id, set())
    return events.RECIPIENT_SKIPPED in wanted
