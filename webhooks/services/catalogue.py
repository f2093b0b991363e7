"""Which events an agency may subscribe to; higher apps add theirs in their `hooks`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agency.events import LIFECYCLE
from agency.models import Agency
from config.hooks import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSource:
    """Events of a higher app: their labels, the `data` of a sample of each, and which agencies may hear of them."""

    name: str
    labels: Mapping[str, str]
    samples: Mapping[str, Mapping[str, Any]]
    is_open_to: Callable[[Agency], bool]


event_sources = Registry[EventSource]("sources of events")


def known_events() -> dict[str, str]:
    """Every event that some agency may subscribe to, with its label."""
    return dict(LIFECYCLE) | {event: label for source in event_sources for event, label in source.labels.items()}


def event_catalogue(agency: Agency) -> dict[str, str]:
    """Event names and their labels, in the order in which people read them."""
    catalogue = dict(LIFECYCLE)
    for source in event_sources:
        if source.is_open_to(agency):
            catalogue |= source.labels
    return catalogue
