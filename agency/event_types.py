"""The events that webhooks receive; each is declared once, in the `hooks` of the app that fires it.

The catalogue of events, their labels in the console, samples, and the documents' webhooks follow from the declaration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from agency.models import Agency
from agency.tenants import Audience
from config.api.serializers import Serializer
from config.hooks import Registry


def open_to_everybody(agency: Agency) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class EventType:
    """An event type; `serializer` writes the envelope's `data` from what is recorded.

    `sample` changes the parts of the serializer's own example that would not fit the event. `is_open_to` says which
    agencies may subscribe. With `only_if_subscribed` no event is written while it has no receiver.
    """

    name: str
    label: str
    group: str
    serializer: type[Serializer]
    audience: Audience = Audience.AGENCY
    sample: Mapping[str, object] = field(default_factory=dict)
    is_open_to: Callable[[Agency], bool] = open_to_everybody
    only_if_subscribed: bool = False

    def sample_data(self) -> dict[str, Any]:
        """Return the `data` of a sample, about objects that do not exist."""
        return _changed(self.serializer.example(), self.sample)


event_types = Registry[EventType](
    "event types",
    called=(
        "`record_event` and `record_events` write an event's data with its serializer; webhooks' forms, documents "
        "and samples read the types"
    ),
    transaction="the caller's",
    failure="rolls the caller back; a page or the API answers 500",
)


def _changed(example: Mapping[str, Any], changes: Mapping[str, object]) -> dict[str, object]:
    changed = {
        name: _changed(example[name], part) if isinstance(part, Mapping) else part for name, part in changes.items()
    }
    return {**example, **changed}


def event_type(name: str) -> EventType:
    """Return a declared event type. Raises `LookupError`."""
    found = event_types.get(name)
    if found is None:
        raise LookupError(f"No event type {name} is declared.")
    return found


def declared_events(audience: Audience) -> list[EventType]:
    """Return the event types of an audience, in the order in which people read them."""
    return [declared for declared in event_types if declared.audience == audience]


def event_labels(audience: Audience = Audience.AGENCY) -> dict[str, str]:
    """Return the label of every event of an audience by its name."""
    return {declared.name: declared.label for declared in declared_events(audience)}


def event_catalogue(agency: Agency) -> dict[str, str]:
    """Return the labels of the events that an agency may subscribe to, by their names."""
    is_open = cache(lambda rule: rule(agency))  # several events share a rule, which may query the database
    return {
        declared.name: declared.label for declared in declared_events(Audience.AGENCY) if is_open(declared.is_open_to)
    }
