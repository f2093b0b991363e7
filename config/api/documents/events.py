"""What a surface sends of itself: higher apps add their events in their `hooks`, documents list them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from config.hooks import Registry

JSON = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventDescription:
    """An event as its receiver sees it: the body's JSON schema, an example, and what the headers mean."""

    name: str
    summary: str
    body: JSON
    example: JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentedEvents:
    """Events that an app describes in a document (`agency`, `workspace`); `describe` is called once, late."""

    name: str
    document: str
    describe: Callable[[], Iterable[EventDescription]]


documented_events = Registry[DocumentedEvents]("sources of documented events")


def _path_item(event: EventDescription) -> dict[str, Any]:
    parts = event.name.replace("_", ".").split(".")
    headers = [
        {"name": name, "in": "header", "description": meaning, "schema": {"type": "string"}}
        for name, meaning in event.headers.items()
    ]
    content = {"application/json": {"schema": event.body, "example": event.example}}
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


def webhooks_of(document: str) -> dict[str, Any]:
    described = (event for source in documented_events if source.document == document for event in source.describe())
    return {event.name: _path_item(event) for event in described}
