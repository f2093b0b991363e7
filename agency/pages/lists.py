"""Pages of lists: 25 rows, and links that keep the rest of the query string."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from config.api.responses.pagination import read_number

Row = TypeVar("Row", bound=Model)
PAGE_SIZE = 25
LARGEST_ID = 2**63 - 1


@dataclass(slots=True)
class Pages:
    """Where a numbered list stands; a page past the end is the last one. Templates link with `{% querystring %}`."""

    asked: int
    total: int
    size: int = PAGE_SIZE
    last: int = field(init=False)
    number: int = field(init=False)

    def __post_init__(self) -> None:
        self.last = max(1, -(-self.total // self.size))
        self.number = min(self.asked, self.last)

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    @property
    def first_row(self) -> int:
        return min(self.offset + 1, self.total)

    @property
    def last_row(self) -> int:
        return min(self.offset + self.size, self.total)

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.last else None


def read_pages(request: HttpRequest, total: int) -> Pages:
    return Pages(read_number(request.GET.get("page", ""), usual=1, highest=LARGEST_ID), total)


def paged(request: HttpRequest, rows: "QuerySet[Row]") -> tuple[list[Row], Pages]:
    """Count the rows and fetch the page asked for: for lists that stay short enough to be counted."""
    pages = read_pages(request, rows.count())
    return list(rows[pages.offset : pages.offset + pages.size]), pages


def with_id(rows: "QuerySet[Row]", uuid: UUID | None) -> Row | None:
    """Find the row with this public id; a malformed one (None) is nobody's."""
    return rows.filter(uuid=uuid).first() if uuid else None


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[Row]):
    """A page of an endless list, newest first; `older` and `newer` are the ids that the pages beside it begin at."""

    rows: Sequence[Row]
    older: int | None
    newer: int | None


def keyset_page(request: HttpRequest, rows: "QuerySet[Row]") -> KeysetPage[Row]:
    """Fetch rows before the id `before`, or after the id `after`: never counts and never skips."""
    after = _id(request, "after")
    if after is not None:
        found = list(rows.filter(pk__gt=after).order_by("pk")[: PAGE_SIZE + 1])
        more_newer, found = len(found) > PAGE_SIZE, found[:PAGE_SIZE][::-1]
        return KeysetPage(found, _edge(found, -1, there_is=True), _edge(found, 0, there_is=more_newer))
    before = _id(request, "before")
    older_ones = rows if before is None else rows.filter(pk__lt=before)
    found = list(older_ones.order_by("-pk")[: PAGE_SIZE + 1])
    more_older, found = len(found) > PAGE_SIZE, found[:PAGE_SIZE]
    return KeysetPage(found, _edge(found, -1, there_is=more_older), _edge(found, 0, there_is=before is not None))


def _id(request: HttpRequest, name: str) -> int | None:
    number = read_number(request.GET.get(name, ""), usual=0, highest=LARGEST_ID)
    return number or None


def _edge(rows: Sequence[Row], position: int, *, there_is: bool) -> int | None:
    return rows[position].pk if rows and there_is else None
