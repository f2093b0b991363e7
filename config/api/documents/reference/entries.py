"""What the page shows of a document: its sections with their operations, its events, and the objects in answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from config.api.documents.reference.samples import Sample
from config.api.documents.reference.schemas import FieldRow

NOTHING = SafeString("")


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """An answer; `example` is its body, `fields` what stands in it, down to the first object.

    A long example stands on the page once: `same_as` is then anchor and summary of the operation that shows it.
    """

    status: str
    text: SafeString
    fields: tuple[FieldRow, ...] = ()
    example: SafeString = NOTHING
    same_as: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class OperationEntry:
    """An operation, or an event that is sent; an event has no path."""

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
        """Give the fields that may lead to objects."""
        yield from self.body
        for answer in self.answers:
            yield from answer.fields


@dataclass(frozen=True, slots=True)
class SectionEntry:
    """Operations of one kind of thing."""

    anchor: str
    title: str
    operations: tuple[OperationEntry, ...]


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """An object that answers hold."""

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
