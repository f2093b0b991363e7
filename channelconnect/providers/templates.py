"""Reads message templates as the provider lists them, and finds the parameters to fill in."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypedDict

from channelconnect.providers.graph import Graph
from channelconnect.providers.parsing import Row, ident, row, rows, text
from channelconnect.providers.settings import provider_settings
from channelconnect.providers.transport import CallTimeouts, Transport

FIELDS: Final = "id,name,language,status,category,components,parameter_format"
STATUSES: Final[dict[str, str]] = {
    "APPROVED": "approved",
    "REINSTATED": "approved",
    "PENDING": "pending",
    "IN_APPEAL": "pending",
    "REJECTED": "rejected",
    "PAUSED": "paused",
    "FLAGGED": "paused",
    "LOCKED": "paused",
    "LIMIT_EXCEEDED": "paused",
}
# Any other status cannot be sent: disabled, archived, about to be deleted, or unknown.
OTHER: Final = "disabled"
PLACEHOLDER: Final = re.compile(r"\{\{\s*(\w{1,100})\s*\}\}")
MEDIA: Final = ("IMAGE", "VIDEO", "DOCUMENT", "LOCATION")
LONGEST_NAME: Final = 512
LONGEST_TEXT: Final = 2_000
MOST_TEMPLATES: Final = 6_000
# A list of thousands takes many pages.
LIMITS: Final = CallTimeouts(operation=40.0)


class WantedParameter(TypedDict):
    """Something to fill in when a template is sent. `index` or `name` says where in its component."""

    component: str
    index: int | None
    name: str | None
    type: str
    example: str | None


class ListedTemplate(NamedTuple):
    provider_id: str
    name: str
    language: str
    category: str
    status: str
    provider_status: str
    parameter_format: str
    components: list[Row]
    parameters: list[WantedParameter]


def list_templates(*, container_id: str, token: str) -> list[ListedTemplate]:
    """List a business account's templates, all pages of them. Raises `ProviderFault`."""
    graph = Graph(provider_settings(), Transport(LIMITS))
    found: dict[tuple[str, str], ListedTemplate] = {}
    for listed in graph.pages(f"{container_id}/message_templates", token=token, fields=FIELDS):
        template = read_template(listed)
        if template is not None and len(found) < MOST_TEMPLATES:
            found[template.name, template.language] = template
    return list(found.values())


def read_template(listed: Row) -> ListedTemplate | None:
    """Read a listed template; None without a name or a language."""
    name, language = text(listed.get("name"), LONGEST_NAME), text(listed.get("language"), 20).replace("-", "_")
    if not name or not language:
        return None
    status = text(listed.get("status"), 40)
    components = rows(listed.get("components"))
    parameter_format = text(listed.get("parameter_format"), 20)
    return ListedTemplate(
        provider_id=ident(listed.get("id")),
        name=name,
        language=language,
        category=text(listed.get("category"), 40).lower(),
        status=STATUSES.get(status, OTHER),
        provider_status=status,
        parameter_format=parameter_format,
        components=components,
        parameters=list(parameters_of(components)),
    )


def parameters_of(components: list[Row], *, within: str = "") -> Iterator[WantedParameter]:
    """Yield the parameters to fill in: placeholders in texts, a header's file, and the end of a button's address."""
    for component in components:
        kind = text(component.get("type")).upper()
        if kind in ("HEADER", "BODY"):
            yield from _of_text(component, f"{within}{kind.lower()}")
        elif kind == "BUTTONS":
            yield from _of_buttons(component, f"{within}button")
        elif kind == "CAROUSEL":
            for number, card in enumerate(rows(component.get("cards"))):
                yield from parameters_of(rows(card.get("components")), within=f"carousel.{number}.")


def _of_text(component: Row, place: str) -> Iterator[WantedParameter]:
    file_format = text(component.get("format")).upper()
    if file_format in MEDIA:
        yield _parameter(place, index=1, example=None, kind=file_format.lower())
        return
    examples = _examples(row(component.get("example")))
    for number, name in enumerate(placeholders(component)):
        index = int(name) if name.isdigit() else None
        example = examples.get(name) or examples.get(str(number + 1))
        yield _parameter(place, index=index, name=None if index else name, example=example)


def placeholders(component: Row) -> list[str]:
    """Return the names or numbers of the placeholders in a component's text, each once, in their order."""
    return list(dict.fromkeys(PLACEHOLDER.findall(text(component.get("text"), LONGEST_TEXT))))


def _of_buttons(component: Row, place: str) -> Iterator[WantedParameter]:
    for index, button in enumerate(rows(component.get("buttons"))):
        kind = text(button.get("type")).upper()
        if kind == "URL" and PLACEHOLDER.search(text(button.get("url"), LONGEST_TEXT)):
            yield _parameter(place, index=index, example=_first(button.get("example")), kind="url")
        elif kind == "COPY_CODE":
            yield _parameter(place, index=index, example=_first(button.get("example")), kind="copy_code")


def _parameter(
    component: str, *, index: int | None = None, name: str | None = None, example: str | None, kind: str = "text"
) -> WantedParameter:
    return {"component": component, "index": index, "name": name, "type": kind, "example": example}


def _examples(example: Row) -> dict[str, str]:
    """Return the examples by name, or by number."""
    found: dict[str, str] = {}
    for key in ("header_text_named_params", "body_text_named_params"):
        for one in rows(example.get(key)):
            found[text(one.get("param_name"))] = text(one.get("example"))
    for key in ("header_text", "body_text"):
        values = example.get(key)
        if isinstance(values, list) and values and isinstance(values[0], list):
            values = values[0]
        if isinstance(values, list):
            found |= {str(number): text(value) for number, value in enumerate(values, 1)}
    return found


def _first(value: object) -> str | None:
    found = value[0] if isinstance(value, list) and value else value
    return text(found) or None
