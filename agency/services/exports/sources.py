"""The lists that can be exported; each app declares its own in its hooks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from agency.services.jobs.selections import Selection
from config.errors import NotFound
from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a list, each with all of its columns; `cursor` is where the next rows begin, None at the end."""

    rows: Sequence[Mapping[str, Any]]
    cursor: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSource:
    """A list of the console. `read` returns the next rows after a cursor, in a statement whose cost does not grow.

    `count` returns the number of rows; without it the progress has no total. `url_name` is the list's page.
    """

    name: str
    label: str | Promise
    url_name: str
    columns: Sequence[str]
    read: Callable[[Selection, Any, int], Rows]
    count: Callable[[Selection], int] | None = None


class SourceNotFound(NotFound):
    message = "List not found."


export_sources = Registry[ExportSource](
    "lists that can be exported",
    called=(
        "`write_piece` calls `count` once and `read` for the next rows of a file; the console's pages read the labels"
    ),
    transaction="its own, one for each piece of a file",
    failure="rolls the piece back and is logged; the export waits for the next run",
)


def export_source(name: str) -> ExportSource:
    """Return a list. Raises `SourceNotFound`."""
    found = export_sources.get(name)
    if found is None:
        raise SourceNotFound
    return found
