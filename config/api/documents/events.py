"""The events in the documents: higher apps add theirs in their `hooks`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from drf_spectacular.plumbing import ComponentRegistry, build_mocked_view
from drf_spectacular.utils import extend_schema

from config.api.serializers import Serializer
from config.hooks import Registry

JSON = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventDescription:
    """An event as its receiver sees it.

    `tenant` is the schema of the property that names the event's tenant. `headers` maps each header to its meaning.
    """

    name: str
    summary: str
    tenant: JSON
    data: type[Serializer]
    example: JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentedEvents:
    """The events that an app adds to a document (`agency` or `workspace`).

    `describe` is called only when the document is built.
    """

    name: str
    document: str
    describe: Callable[[], Iterable[EventDescription]]


documented_events = Registry[DocumentedEvents](
    "sources of documented events",
    called="`events_of` calls `describe` of a document's sources, when the OpenAPI document is built",
    transaction="none",
    failure="the document cannot be built",
)


def events_of(document: str) -> Iterator[EventDescription]:
    """Return the events of a document, in their order."""
    return (event for source in documented_events if source.document == document for event in source.describe())


def webhooks_of(document: str, components: ComponentRegistry) -> dict[str, Any]:
    """Describe the events of a document as webhooks. The schemas of their data join the document's components."""
    view: Any = build_mocked_view("POST", "/", extend_schema(), components)
    return {event.name: _path_item(event, view) for event in events_of(document)}


def _envelope(event: EventDescription, data: JSON) -> JSON:
    return {
        "type": "object",
        "required": ["id", "event", "occurred_at", *event.tenant, "data"],
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "event": {"const": event.name},
            "occurred_at": {"type": "string", "format": "date-time"},
            **event.tenant,
            "data": data,
            "test": {"const": True, "description": "Only on test deliveries."},
        },
    }


def _path_item(event: EventDescription, view: Any) -> dict[str, Any]:
    parts = event.name.replace("_", ".").split(".")
    headers = [
        {"name": name, "in": "header", "description": meaning, "schema": {"type": "string"}}
        for name, meaning in event.headers.items()
    ]
    body = _envelope(event, view.schema.resolve_serializer(event.data, "response").ref)
    content = {"application/json": {"schema": body, "example": event.example}}
    return {
        "post": {
            "operationId": "on" + "".join(part.title() for part in parts),
            "summary": event.summary,
            "tags": ["Events"],
            "parameters": headers,
            "requestBody": {"required": True, "content": content},
            "responses": {"2XX": {"description": "Taken. Anything else is tried again."}},
            "security": [],
        }
    }
