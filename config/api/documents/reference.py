"""Reads an OpenAPI document into the objects that its reference page shows."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString
from django.utils.text import slugify

from config.api.documents.answers import NAMES
from config.api.documents.samples import (
    NAME_IN_PATH,
    Sample,
    SampleRequest,
    parameter_placeholder,
    placeholder,
    pretty_json,
    samples_of,
    with_placeholders,
)
from config.api.documents.schemas import FieldRow, Schemas, inline, paragraphs, verbatim
from config.api.parsers import MULTIPART

NOTHING = SafeString("")


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """An answer. `example` is its body; `fields` are the body's fields, down to the first object.

    The page shows a long example once. Elsewhere `same_as` has anchor and summary of the operation that shows it.
    """

    status: str
    text: SafeString
    fields: tuple[FieldRow, ...] = ()
    example: SafeString = NOTHING
    same_as: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class OperationEntry:
    """An operation, or an event, whose `method` is `EVENT` and whose `path` is its name."""

    anchor: str
    method: str
    path: str
    summary: str
    parameters: Mapping[str, tuple[FieldRow, ...]]
    body: tuple[FieldRow, ...]
    body_example: SafeString
    answers: tuple[AnswerEntry, ...]
    errors: tuple[AnswerEntry, ...]
    usual_errors: tuple[str, ...]
    samples: tuple[Sample, ...]

    def rows(self) -> Iterator[FieldRow]:
        """Yield the fields that may refer to objects."""
        yield from self.body
        for answer in self.answers:
            yield from answer.fields


@dataclass(frozen=True, slots=True)
class SectionEntry:
    """The operations on one kind of thing."""

    anchor: str
    title: str
    operations: tuple[OperationEntry, ...]


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """An object that occurs in answers."""

    name: str
    text: SafeString
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """The whole page."""

    title: str
    version: str
    server: str
    summary: str
    conventions: SafeString
    sections: tuple[SectionEntry, ...]
    objects: tuple[ObjectEntry, ...]
    errors: tuple[AnswerEntry, ...]


JSON = Mapping[str, Any]
EVENTS = "Events"
# A longer example is shown once in a section, by the first operation that answers with it.
LONG_EXAMPLE = 300
PLACES = {"path": "Path", "query": "Query", "header": "Headers"}
# A section reads from top to end: operations that make something come first, those that end it come last.
FIRST, TRIED, USUAL, LAST = 0, 1, 2, 5
BY_LAST_WORD = {"preview": TRIED, "test": TRIED, "suspend": 3, "restore": 4, "cancel": LAST}


class ReferenceBuilder:
    """Reads one OpenAPI document."""

    def __init__(self, document: JSON) -> None:
        self.document = document
        self.schemas = Schemas(document["components"]["schemas"])
        self.server = document["servers"][0]["url"].rstrip("/")
        self._shown: dict[tuple[str, str], tuple[str, str]] = {}

    def build(self, *, leaving_out: Collection[str] = (), only: str = "") -> Reference:
        """Return the page of all sections, of all but those in `leaving_out`, or of `only` one."""
        info, usual = self.document["info"], self.document["components"]["responses"]
        summary, _, conventions = info["description"].partition("\n")
        sections = tuple(
            one for one in self._sections() if one.title not in leaving_out and (not only or one.title == only)
        )
        return Reference(
            title=info["title"],
            version=info["version"],
            server=self.server,
            summary=summary,
            conventions=paragraphs(conventions),
            sections=sections,
            objects=tuple(self._objects(sections)),
            errors=tuple(
                AnswerEntry(str(status), inline(usual[name]["description"])) for status, name in NAMES.items()
            ),
        )

    def _sections(self) -> Iterator[SectionEntry]:
        by_tag: dict[str, list[tuple[str, str, JSON]]] = {}
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                by_tag.setdefault(operation["tags"][0], []).append((path, method.upper(), operation))
        for tag, operations in by_tag.items():
            root = min((path for path, _, _ in operations), key=len)
            ordered = sorted(operations, key=lambda one: _place(one[0], one[1], root))
            yield _section(tag, [self._operation(*one) for one in ordered])
        events = [self._event(name, methods["post"]) for name, methods in self.document.get("webhooks", {}).items()]
        if events:
            yield _section(EVENTS, events)

    def _operation(self, path: str, method: str, operation: JSON) -> OperationEntry:
        parameters, asked = operation.get("parameters", []), operation.get("requestBody", {})
        content = json_content(asked) or upload_content(asked)
        body = example_in(content)
        answers = operation["responses"]
        return OperationEntry(
            anchor=operation["operationId"],
            method=method,
            path=path,
            summary=operation["summary"],
            parameters=self._parameters(parameters),
            body=tuple(self.schemas.rows(content["schema"], into=True)) if content else (),
            body_example=NOTHING if body is None else verbatim(pretty_json(body)),
            answers=tuple(
                self._answer(status, answer, of=operation) for status, answer in answers.items() if "$ref" not in answer
            ),
            errors=tuple(
                AnswerEntry(status, inline(answer["description"]))
                for status, answer in answers.items()
                if "$ref" in answer and "description" in answer
            ),
            usual_errors=tuple(status for status, answer in answers.items() if set(answer) == {"$ref"}),
            samples=samples_of(self._sample_request(path, method, operation, body)),
        )

    def _sample_request(self, path: str, method: str, operation: JSON, body: object) -> SampleRequest:
        parameters, asked = operation.get("parameters", []), operation.get("requestBody", {})
        filled = NAME_IN_PATH.sub(lambda found: placeholder(found[1]), path)
        needed = [one for one in parameters if one["in"] == "query" and one.get("required")]
        query = "&".join(f"{one['name']}={parameter_placeholder(one)}" for one in needed)
        if body is not None:
            body = with_placeholders(body, json_content(asked)["schema"], self.schemas, path=path)
        return SampleRequest(
            method=method,
            url=f"{self.server}{filled}{'?' if query else ''}{query}",
            body=body,
            is_idempotent=any(one["name"] == "Idempotency-Key" for one in parameters),
            uploads_file=bool(upload_content(asked)),
            gets_file=not any(
                json_content(answer) for status, answer in operation["responses"].items() if status < "300"
            ),
        )

    def _event(self, name: str, operation: JSON) -> OperationEntry:
        content = json_content(operation["requestBody"])
        return OperationEntry(
            anchor=operation["operationId"],
            method="EVENT",
            path=name,
            summary=operation["summary"],
            parameters=self._parameters(operation.get("parameters", [])),
            body=tuple(self.schemas.rows(content["schema"])),
            body_example=verbatim(pretty_json(example_in(content), indent=1)),  # there are many on one page
            answers=(),
            errors=(),
            usual_errors=(),
            samples=(),
        )

    def _parameters(self, parameters: list[JSON]) -> dict[str, tuple[FieldRow, ...]]:
        """Return an operation's parameters by their place: path, query or headers."""
        rows: dict[str, list[FieldRow]] = {}
        for one in parameters:
            schema = {**one["schema"], "description": one.get("description", "")}
            row = FieldRow(
                name=one["name"],
                type=self.schemas.type_name(schema),
                object="",
                is_required=bool(one.get("required")),
                notes=self.schemas.notes(schema),
                place=one["in"],
            )
            rows.setdefault(PLACES[one["in"]], []).append(row)
        return {title: tuple(found) for title, found in rows.items()}

    def _answer(self, status: str, answer: JSON, *, of: JSON) -> AnswerEntry:
        content = json_content(answer)
        example = example_in(content)
        shown = "" if example is None else pretty_json(example)
        own = (of["operationId"], of["summary"])
        first = self._shown.setdefault((of["tags"][0], shown), own) if len(shown) > LONG_EXAMPLE else own
        return AnswerEntry(
            status=status,
            text=inline(answer["description"]),
            fields=tuple(self.schemas.rows(content["schema"])) if content else (),
            example=verbatim(shown) if shown and first == own else NOTHING,
            same_as=None if first == own else first,
        )

    def _objects(self, sections: tuple[SectionEntry, ...]) -> Iterator[ObjectEntry]:
        """Describe every object that a field on the page refers to, directly or through other objects."""
        waiting = [row.object for section in sections for one in section.operations for row in one.rows()]
        seen: dict[str, ObjectEntry] = {}
        while waiting:
            name = waiting.pop(0)
            if not name or name in seen:
                continue
            fields = tuple(self.schemas.rows(self.schemas.components[name]))
            text = self.schemas.components[name].get("description", "")
            seen[name] = ObjectEntry(name, inline(text), fields)
            waiting += [row.object for row in fields]
        return iter(sorted(seen.values(), key=lambda one: one.name))


def _section(title: str, operations: list[OperationEntry]) -> SectionEntry:
    return SectionEntry(f"section-{slugify(title)}", title, tuple(operations))


def _place(path: str, method: str, root: str) -> tuple[int, int]:
    """Return an operation's position in a section whose shortest path is `root`.

    Operations that end something come last.
    """
    usual = FIRST if path == root else BY_LAST_WORD.get(path.rpartition("/")[2], USUAL)
    rank = LAST if method == "DELETE" else usual
    return rank, -path.count("/") if rank == LAST else 0  # an inner resource ends before the one that holds it


def json_content(holder: JSON) -> JSON:
    """Return the JSON content of a body or an answer."""
    content: JSON = holder.get("content", {}).get("application/json", {})
    return content


def upload_content(holder: JSON) -> JSON:
    """Return the multipart/form-data content of a request's body."""
    content: JSON = holder.get("content", {}).get(MULTIPART, {})
    return content


def example_in(content: JSON) -> object:
    """Return the example of a body, or None."""
    examples = [one["value"] for one in content.get("examples", {}).values()]
    return examples[0] if examples else content.get("example")
