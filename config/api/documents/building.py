"""Builds a surface's OpenAPI document from the URL configuration and the events, once per process."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.conf import settings
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from drf_spectacular.plumbing import ComponentRegistry, build_mocked_view
from drf_spectacular.settings import patched_settings
from drf_spectacular.utils import extend_schema

from config.api.documents import answers
from config.api.documents.answers import SurfaceRefusals
from config.api.documents.reference import EVENTS
from config.api.responses import to_json
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


def webhooks_of(document: str, components: ComponentRegistry) -> dict[str, object]:
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


def _path_item(event: EventDescription, view: Any) -> dict[str, object]:
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


CONVENTIONS = """
Send the API key as `x-api-key` or as a Bearer token. JSON in, JSON out; writes send
`Content-Type: application/json`. Times are ISO 8601 in UTC, with six digits of a second or none; ids are
uuids, taken in any case and answered in lower case. Unknown fields and query parameters are ignored, an
unknown filter value matches nothing, a blank parameter counts as not sent. Another's resource reads like one
that does not exist. On an agency's own domain the keys of that agency and of its workspaces are good, and no
others.

Every answer carries `X-Request-Id`; counted ones carry `X-RateLimit-Limit` and `X-RateLimit-Remaining`. After
a 429, wait the seconds in `Retry-After`. Errors are `{message}`, refused fields `{message, errors}`. A path
that does not exist answers 404, a method that a path does not have 405. A write that meets another change of
the same resource may answer 409 with a sentence that asks to send it again; nothing has been done then.

Endpoints that take an `Idempotency-Key` (1 to 255 printable ASCII characters) answer a repetition within
24 hours (a channel connection's: for as long as it exists) as they answered the first request, marked by
`Idempotent-Replayed: true`. A used key with another request is 409, whether or not its body is valid; refused
requests are not remembered.
"""


@dataclass(frozen=True, slots=True)
class Document:
    """A surface as its document presents it."""

    name: str
    title: str
    version: str
    prefix: str
    summary: str
    refusals: SurfaceRefusals
    # Sections on separate pages, so that no page is heavy: the end of the page's address to the section's title.
    apart: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def path(self) -> str:
        return f"{self.prefix}/openapi.json"


AGENCY = Document(
    name="agency",
    title="Agency API",
    version="1.0.0",
    prefix="/api/agency/v1",
    summary="Manage the sub-accounts of an agency.",
    refusals=SurfaceRefusals(
        forbidden="This agency is not active.", disabled="The reseller API is currently disabled."
    ),
)
WORKSPACE = Document(
    name="workspace",
    title="Workspace API",
    version="1.0.0",
    prefix="/api/v1",
    summary="Work with the data of one workspace.",
    refusals=SurfaceRefusals(forbidden="API access is disabled for this installation, or this workspace is suspended."),
    apart={
        "appointments": "Appointments",
        "broadcasts": "Broadcasts",
        "classes": "Classes",
        "invoices": "Invoices",
        "webhooks": "Webhooks",
        "events": EVENTS,
    },
)
# Not one of the common licences: use of the API is agreed with each agency.
LICENCE = {"name": "Proprietary", "identifier": "LicenseRef-Proprietary"}
SCHEMAS = "#/components/schemas/"
METHODS = ("get", "post", "put", "patch", "delete")
_one_at_a_time = threading.Lock()


def _patches(document: Document) -> dict[str, object]:
    return {
        "OAS_VERSION": "3.1.0",
        "TITLE": document.title,
        "VERSION": document.version,
        "DESCRIPTION": f"{document.summary}\n{CONVENTIONS}",
        "LICENSE": LICENCE,
        "SERVERS": [{"url": settings.PUBLIC_URL}],
        "SCHEMA_PATH_PREFIX": document.prefix,
        "SECURITY": [{"ApiKey": []}, {"Bearer": []}],
        "APPEND_COMPONENTS": answers.components(document.refusals),
        "PATH_CONVERTER_OVERRIDES": {"id": {"type": "string", "format": "uuid"}},
        "POSTPROCESSING_HOOKS": [],
        "COMPONENT_SPLIT_REQUEST": True,
        "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
        "SORT_OPERATIONS": False,
        "SORT_OPERATION_PARAMETERS": False,
    }


def _generator(document: Document) -> Any:
    class Endpoints(EndpointEnumerator):
        def get_api_endpoints(self, patterns: object = None, prefix_: str = "") -> list[Any]:
            everything: Any = super()
            return [found for found in everything.get_api_endpoints() if found[0].startswith(f"{document.prefix}/")]

    class Generator(SchemaGenerator):
        endpoint_inspector_cls = Endpoints

        def parse(self, input_request: object, public: bool) -> object:
            """Describe the events too, while their schemas can still join the components."""
            untyped: Any = super()
            paths = untyped.parse(input_request, public)
            self.webhooks = webhooks_of(document.name, self.registry)
            return paths

    generator: Any = Generator
    return generator()


def build(document: Document) -> dict[str, Any]:
    """Build the document as data. The library's settings are global, so only one document is built at a time."""
    with _one_at_a_time, patched_settings(_patches(document)):
        generator = _generator(document)
        built: dict[str, Any] = generator.get_schema(request=None, public=True)
    for path, methods in built["paths"].items():
        for method, operation in methods.items():
            answers.add_shared_answers(path, method, operation, document.refusals)
        # A viewset's methods come out of a set, but the same code must give the same document.
        built["paths"][path] = {method: methods[method] for method in METHODS if method in methods}
    whole = {**built, "webhooks": generator.webhooks} if generator.webhooks else built
    _leave_out_unused(whole)
    return whole


def _leave_out_unused(whole: dict[str, Any]) -> None:
    """Remove the schemas that nothing refers to. The library makes some for requests that are described otherwise."""
    schemas = whole["components"]["schemas"]
    while unused := schemas.keys() - set(_referred_to(whole)):
        for name in unused:
            del schemas[name]


def _referred_to(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        reference = node.get("$ref", "")
        if isinstance(reference, str) and reference.startswith(SCHEMAS):
            yield reference.removeprefix(SCHEMAS)
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for part in parts:
        yield from _referred_to(part)


@lru_cache(maxsize=8)
def written(document: Document, urlconf: str) -> bytes:
    """Return the document as JSON. Each URL configuration has its own document."""
    return to_json(build(document))
