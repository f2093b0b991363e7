"""What a surface sends of itself: higher apps register their events here, documents list them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

JSON = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventDescription:
    """An event as its receiver sees it: the body's JSON schema, an example, and what the headers mean."""

    name: str
    summary: str
    body: JSON
    example: JSON
    headers: Mapping[str, str] = field(default_factory=dict)


Source = Callable[[], Iterable[EventDescription]]
_sources: dict[str, list[Source]] = {}


def register_events(document: str, source: Source) -> None:
    """Let `source` describe events in a document (`agency`, `workspace`); it is asked once, late."""
    _sources.setdefault(document, []).append(source)


def _path_item(event: EventDescription) -> dict[str, Any]:
    words = event.name.replace("_", ".").split(".")
    headers = [
        {"name": name, "in": "header", "description": meaning, "schema": {"type": "string"}}
        for name, meaning in event.headers.items()
    ]
    content = {"application/json": {"schema": event.body, "example": event.example}}
    return {
        "post": {
            "operationId": "on" + "".join(word.title() for word in words),
            "summary": event.summary,
            "tags": ["Events"],
            "parameters": headers,
            "requestBody": {"required": True, "content": content},
            "responses": {"2XX": {"description": "Taken. Anything else is tried again."}},
            "security": [],
        }
    }


def webhooks_of(document: str) -> dict[str, Any]:
    described = (event for source in _sources.get(document, []) for event in source())
    return {event.name: _path_item(event) for event in described}
