"""What an address asks of a list, and the page of rows that it shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from agency.pages.lists import SIZES, KeysetPage, Pages, count_capped, read_pages, read_size
from agency.pages.registry import StrOrPromise
from agency.pages.tables.declaration import DESCENDING, Choices, Column, Filter, Table

# The position in a list and the number of a form do not belong to a view that is worth saving.
OF_THE_MOMENT: Final = ("page", "before", "after", "form")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: its present order (`ascending`, `descending` or empty), and the order after a click."""

    column: Column
    sorted: str
    next: str


@dataclass(frozen=True, slots=True)
class BoundFilter:
    """A filter with its value, what is wrong with the value, and the list's address without the filter."""

    filter: Filter
    value: str
    choices: Choices
    error: str
    address_without: str

    @property
    def shown_value(self) -> StrOrPromise:
        """The value as the list of choices says it."""
        return dict(self.choices).get(self.value, self.value)


def view_of(sent: QueryDict, usual: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a query string without positions and usual values, sorted, so that the same view has the same text."""
    kept = QueryDict(mutable=True)
    for name in sorted(sent):
        value = str(sent[name]).strip()
        if value and name not in OF_THE_MOMENT and value != usual.get(name):
            kept[name] = value
    return kept.urlencode()


class TableState:
    """A table as the address asks for it; invalid values are ignored. `show` adds the rows.

    `errors` say, by the filter's name, why a value was not filtered by.
    """

    def __init__(self, table: Table, request: HttpRequest, choices: Mapping[str, Choices] | None = None) -> None:
        self.table = table
        self._request = request
        self._choices = choices or {}
        self.errors: Mapping[str, str] = {}
        self.rows: Sequence[Any] = ()
        self.pages: Pages | None = None
        self.keyset: KeysetPage[Any] | None = None

    @cached_property
    def sort(self) -> str:
        """The column to sort by, with a `-` before it for the reverse order."""
        asked = self._request.GET.get("sort", "")
        return asked if asked.removeprefix(DESCENDING) in self.table.sortable else self.table.sort

    @property
    def order(self) -> tuple[str, ...]:
        """The fields to sort by; empty if the rows keep the order in which they come."""
        if not self.sort:
            return ()
        column = self.table.sortable[self.sort.removeprefix(DESCENDING)]
        return column.order_by(descending=self.sort.startswith(DESCENDING))

    @cached_property
    def size(self) -> int:
        return read_size(self._request)

    @cached_property
    def values(self) -> dict[str, str]:
        """The value of each filter."""
        return {one.name: self._request.GET.get(one.name, "").strip() for one in self.table.filters}

    @cached_property
    def is_filtered(self) -> bool:
        return any(self.values.values())

    @cached_property
    def query(self) -> str:
        """What a saved view keeps: empty if the list is as it is without a query."""
        return view_of(self._request.GET, usual={"sort": self.table.sort, "size": str(SIZES[0])})

    def fetch(self, rows: "QuerySet[Any]") -> "TableState":
        """Count the rows as far as a count is cheap, and fetch the requested page."""
        pages = read_pages(self._request, *count_capped(rows))
        ordered = rows.order_by(*self.order) if self.order else rows
        return self.show(list(ordered[pages.offset : pages.offset + pages.size]), pages)

    def show(self, rows: Sequence[Any], pages: Pages) -> "TableState":
        self.rows, self.pages = rows, pages
        return self

    def show_keyset(self, page: KeysetPage[Any]) -> "TableState":
        """Show a page of an endless list, which is not counted."""
        self.rows, self.keyset = page.rows, page
        return self

    # What templates ask for ---------------------------------------------------------------------------------

    @cached_property
    def labels(self) -> dict[str, str]:
        """The columns' labels, translated once; each cell has one where a row is shown as a card."""
        return {column.name: str(column.label) for column in self.table.columns}

    @property
    def heads(self) -> Iterator[Head]:
        for column in self.table.columns:
            name, is_descending = self.sort.removeprefix(DESCENDING), self.sort.startswith(DESCENDING)
            if column.name == name:
                yield Head(
                    column, "descending" if is_descending else "ascending", name if is_descending else f"-{name}"
                )
            else:
                yield Head(column, "", f"-{column.name}" if column.descends_first else column.name)

    @property
    def sorts(self) -> Iterator[tuple[str, str]]:
        """Yield each way to sort with its label, for a list that is too narrow for heads."""
        for name, column in self.table.sortable.items():
            ways = [(name, _("%(column)s, ascending")), (f"-{name}", _("%(column)s, descending"))]
            for value, label in reversed(ways) if column.descends_first else ways:
                yield value, label % {"column": column.label}

    @property
    def filters(self) -> Iterator[BoundFilter]:
        for one in self.table.filters:
            yield BoundFilter(
                filter=one,
                value=self.values[one.name],
                choices=self._choices.get(one.name, one.choices),
                error=self.errors.get(one.name, ""),
                address_without=self._address_without(one.name),
            )

    @property
    def filters_in_use(self) -> list[BoundFilter]:
        return [one for one in self.filters if one.value]

    def _address_without(self, name: str) -> str:
        """Return the list's address without one of its filters, from the first page on."""
        kept = self._request.GET.copy()
        for unwanted in (name, *OF_THE_MOMENT):
            kept.pop(unwanted, None)
        return f"{self._request.path}?{kept.urlencode()}" if kept else self._request.path

    @property
    def hidden(self) -> dict[str, str]:
        """The hidden fields of the filters' form: what else the address asks for."""
        kept = {name: self._request.GET[name] for name in self.table.keeps if self._request.GET.get(name)}
        return kept | ({"size": str(self.size)} if self.size != SIZES[0] else {})
