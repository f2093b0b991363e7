"""Pages of lists: 25 rows or as many as the address asks for, and links that keep the rest of the query string."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from config.api.requests import parse_clamped_number

Row = TypeVar("Row", bound=Model)
PAGE_SIZE = 25
SIZES: Final = (PAGE_SIZE, 50, 100)
# Further rows are not counted, and the list's pages end there; people must filter or sort the list to see others.
MOST_COUNTED: Final = 10_000
LARGEST_ID = 2**63 - 1


@dataclass(slots=True)
class NumberedPages:
    """The position in a numbered list; a page past the end is the last one. Templates link with `{% querystring %}`.

    With `is_capped` there are more rows than the counted `total`.
    """

    asked: int
    total: int
    size: int = PAGE_SIZE
    is_capped: bool = False
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

    @property
    def sizes(self) -> tuple[int, ...]:
        """The page sizes to choose from, if there are more rows than on the shortest page."""
        return SIZES if self.size in SIZES and self.total > PAGE_SIZE else ()


def read_size(request: HttpRequest) -> int:
    """Return how many rows the address asks for; another number means the usual size."""
    asked = parse_clamped_number(request.GET.get("size", ""), usual=PAGE_SIZE, highest=SIZES[-1])
    return asked if asked in SIZES else PAGE_SIZE


def read_pages(request: HttpRequest, total: int, is_capped: bool = False) -> NumberedPages:
    asked = parse_clamped_number(request.GET.get("page", ""), usual=1, highest=LARGEST_ID)
    return NumberedPages(asked, total, read_size(request), is_capped)


def count_capped(rows: "QuerySet[Row]") -> tuple[int, bool]:
    """Count rows up to 10,000; return the number, and whether there are more."""
    found = rows.order_by().values("pk")[: MOST_COUNTED + 1].count()
    return min(found, MOST_COUNTED), found > MOST_COUNTED


def paginate(request: HttpRequest, rows: "QuerySet[Row]") -> tuple[list[Row], NumberedPages]:
    """Count the rows as far as that is cheap, and fetch the requested page."""
    pages = read_pages(request, *count_capped(rows))
    return list(rows[pages.offset : pages.offset + pages.size]), pages


def with_id(rows: "QuerySet[Row]", uuid: UUID | None) -> Row | None:
    """Return the row with this public id; a malformed id (None) matches no row."""
    return rows.filter(uuid=uuid).first() if uuid else None


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[Row]):
    """A page of an endless list, newest first; `older` and `newer` are the ids at which the pages beside it begin."""

    rows: Sequence[Row]
    older: int | None
    newer: int | None
    size: int = PAGE_SIZE

    @property
    def sizes(self) -> tuple[int, ...]:
        """The page sizes to choose from, if there are further rows or the page is not of the usual size."""
        return SIZES if self.older or self.newer or self.size != PAGE_SIZE else ()


def keyset_page(request: HttpRequest, rows: "QuerySet[Row]") -> KeysetPage[Row]:
    """Fetch rows before the id `before` or after the id `after`, without counting or skipping rows."""
    after, size = _id(request, "after"), read_size(request)
    if after is not None:
        found = list(rows.filter(pk__gt=after).order_by("pk")[: size + 1])
        more_newer, found = len(found) > size, found[:size][::-1]
        return KeysetPage(found, _edge(found, -1, there_is=True), _edge(found, 0, there_is=more_newer), size)
    before = _id(request, "before")
    older_ones = rows if before is None else rows.filter(pk__lt=before)
    found = list(older_ones.order_by("-pk")[: size + 1])
    more_older, found = len(found) > size, found[:size]
    newer = _edge(found, 0, there_is=before is not None)
    return KeysetPage(found, _edge(found, -1, there_is=more_older), newer, size)


def _id(request: HttpRequest, name: str) -> int | None:
    number = parse_clamped_number(request.GET.get(name, ""), usual=0, highest=LARGEST_ID)
    return number or None


def _edge(rows: Sequence[Row], position: int, *, there_is: bool) -> int | None:
    return rows[position].pk if rows and there_is else None
