"""Which events an agency may subscribe to."""

from agency.events import LIFECYCLE
from agency.models import Agency


def event_catalogue(agency: Agency) -> dict[str, str]:
    """Event names and their labels, in the order in which people read them."""
    return dict(LIFECYCLE)
