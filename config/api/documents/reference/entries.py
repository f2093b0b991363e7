"""The objects that a reference page shows: sections with operations, events, and the objects in answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from config.api.documents.reference.samples import Sample
from config.api.documents.reference.schemas import FieldRow

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
