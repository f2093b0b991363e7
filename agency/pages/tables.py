"""Lists of rows: their declaration (columns, filters), what an address asks of them, and their views."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import NoReverseMatch, resolve, reverse
from django.utils.translation import gettext as _
from django.views import View

from agency.pages.branding import in_page_language
from agency.pages.forms import LineField
from agency.pages.pagination import SIZES, KeysetPage, NumberedPages, Row, count_capped, read_pages, read_size
from agency.pages.registry import StrOrPromise
from agency.pages.views import SignedInView, person_of
from agency.services.page_records import ViewNotFound, forget_view, save_view, saved_views
from config.api.requests import parse_uuid
from config.errors import DomainError, InvalidInput
from config.formats import format_day, format_day_time

Choices = Sequence[tuple[str, StrOrPromise]]
DESCENDING: Final = "-"


def reversed_order(order: Sequence[str]) -> tuple[str, ...]:
    """Reverse an order: `("name", "-id")` becomes `("-name", "id")`."""
    return tuple(name.removeprefix("-") if name.startswith("-") else f"-{name}" for name in order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column; its `order` are the fields to sort by, the last of them unique. Without `order` it cannot be sorted by.

    With `descends_first` the first click shows the largest first. `is_unseen` hides the label from view, as over a
    column of buttons.
    """

    name: str
    label: StrOrPromise
    order: tuple[str, ...] = ()
    descends_first: bool = False
    is_number: bool = False
    is_unseen: bool = False

    def order_by(self, *, descending: bool) -> tuple[str, ...]:
        return reversed_order(self.order) if descending else self.order


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """Choices of a filter that belong together; without a label they stand in no group."""

    label: StrOrPromise
    choices: Choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter of the list: one of its choices, a day, a time in UTC, or else a text to search for.

    `choices` that only the request knows are given when the table is read. A text field offers `suggestions`.
    """

    name: str
    label: StrOrPromise
    placeholder: StrOrPromise = ""
    is_choice: bool = False
    is_date: bool = False
    is_moment: bool = False
    choices: Choices = ()
    suggestions: Sequence[str] = ()

    @property
    def input_type(self) -> str:
        """The type of its input, unless it is a choice."""
        return "date" if self.is_date else "datetime-local" if self.is_moment else "search"

    @property
    def is_search(self) -> bool:
        """Whether it is the list's own search, which is in sight even where the filters are folded."""
        return self.name == "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A list's declaration; `sort` is the order if the address gives none, such as `-created`.

    Without `sort` the rows keep the order in which they come. The form of the filters keeps the parameters `keeps`.
    """

    caption: StrOrPromise
    columns: tuple[Column, ...]
    filters: tuple[Filter, ...] = ()
    sort: str = ""
    keeps: tuple[str, ...] = ()

    @property
    def sortable(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns if column.order}


# The position in a list and the number of a form do not belong to a view that is worth saving.
POSITION_PARAMETERS: Final = ("page", "before", "after", "form")


@dataclass(frozen=True, slots=True)
class ColumnHeader:
    """The head of a column: its present order (`ascending`, `descending` or empty), and the order after a click."""

    column: Column
    sorted: str
    next: str


@dataclass(frozen=True, slots=True)
class BoundFilter:
    """A filter with its value, its error, and the list's address without it. `label_without` is "all" if empty."""

    filter: Filter
    value: str
    groups: Sequence[ChoiceGroup]
    error: str
    address_without: str
    label_without: StrOrPromise = ""

    @property
    def choices(self) -> Choices:
        return [choice for group in self.groups for choice in group.choices]

    @property
    def is_text(self) -> bool:
        return self.filter.input_type == "search" and not self.filter.is_choice

    @property
    def shown_value(self) -> StrOrPromise:
        """The value as the list of choices says it; days and times in the language's own way."""
        try:
            if self.filter.is_date:
                return format_day(date.fromisoformat(self.value))
            if self.filter.is_moment:
                return format_day_time(datetime.fromisoformat(self.value))
        except ValueError:
            return self.value
        return dict(self.choices).get(self.value, self.value)


def view_of(sent: QueryDict, usual: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a query string without positions and usual values, sorted, so that the same view has the same text."""
    kept = QueryDict(mutable=True)
    for name in sorted(sent):
        value = str(sent[name]).strip()
        if value and name not in POSITION_PARAMETERS and value != usual.get(name):
            kept[name] = value
    return kept.urlencode()


class TableState:
    """A table as the address asks for it; invalid values are ignored. `show` adds the rows.

    By the filter's name, `errors` say why it did not count, and `labels_without` what is shown without it.
    """

    def __init__(
        self,
        table: Table,
        request: HttpRequest,
        choices: Mapping[str, Choices] | None = None,
        groups: Mapping[str, Sequence[ChoiceGroup]] | None = None,
    ) -> None:
        self.table = table
        self._request = request
        self._groups = {name: [ChoiceGroup("", found)] for name, found in (choices or {}).items()} | dict(groups or {})
        self.errors: Mapping[str, str] = {}
        self.labels_without: Mapping[str, StrOrPromise] = {}
        self.rows: Sequence[Any] = ()
        self.pages: NumberedPages | None = None
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

    def fetch(self, rows: "QuerySet[Row]") -> "TableState":
        """Count the rows as far as a count is cheap, and fetch the requested page."""
        pages = read_pages(self._request, *count_capped(rows))
        ordered = rows.order_by(*self.order) if self.order else rows
        return self.show(list(ordered[pages.offset : pages.offset + pages.size]), pages)

    def show(self, rows: Sequence[object], pages: NumberedPages) -> "TableState":
        self.rows, self.pages = rows, pages
        return self

    def show_keyset(self, page: KeysetPage[Row]) -> "TableState":
        """Show a page of an endless list, which is not counted."""
        self.rows, self.keyset = page.rows, page
        return self

    # What templates ask for ---------------------------------------------------------------------------------

    @cached_property
    def labels(self) -> dict[str, str]:
        """The columns' labels, translated once; each cell has one where a row is shown as a card."""
        return {column.name: str(column.label) for column in self.table.columns}

    @property
    def heads(self) -> Iterator[ColumnHeader]:
        for column in self.table.columns:
            name, is_descending = self.sort.removeprefix(DESCENDING), self.sort.startswith(DESCENDING)
            if column.name == name:
                yield ColumnHeader(
                    column, "descending" if is_descending else "ascending", name if is_descending else f"-{name}"
                )
            else:
                yield ColumnHeader(column, "", f"-{column.name}" if column.descends_first else column.name)

    @property
    def sorts(self) -> Iterator[tuple[str, str]]:
        """Yield each way to sort with its label, for a list that is too narrow for heads."""
        for name, column in self.table.sortable.items():
            ways = [(name, _("%(column)s, ascending")), (f"-{name}", _("%(column)s, descending"))]
            for value, label in reversed(ways) if column.descends_first else ways:
                yield value, label % {"column": column.label}

    @property
    def open_filters(self) -> list[BoundFilter]:
        """The filters that are in sight on a phone, too: the search, and a filter that stands alone beside it."""
        folded = {one.filter.name for one in self.folded_filters}
        return [one for one in self.filters if one.filter.name not in folded]

    @cached_property
    def folded_filters(self) -> list[BoundFilter]:
        """The filters that a phone shows behind one button."""
        found = [one for one in self.filters if not one.filter.is_search]
        return found if len(found) > 1 else []

    @property
    def folded_in_use(self) -> int:
        return sum(bool(one.value) for one in self.folded_filters)

    @property
    def filters(self) -> Iterator[BoundFilter]:
        for one in self.table.filters:
            yield BoundFilter(
                filter=one,
                value=self.values[one.name],
                groups=self._groups.get(one.name) or [ChoiceGroup("", one.choices)],
                error=self.errors.get(one.name, ""),
                address_without=self._address_without(one.name),
                label_without=self.labels_without.get(one.name, ""),
            )

    @property
    def filters_in_use(self) -> list[BoundFilter]:
        return [one for one in self.filters if one.value]

    def _address_without(self, name: str) -> str:
        """Return the list's address without one of its filters, from the first page on."""
        kept = self._request.GET.copy()
        for unwanted in (name, *POSITION_PARAMETERS):
            kept.pop(unwanted, None)
        return f"{self._request.path}?{kept.urlencode()}" if kept else self._request.path

    @property
    def hidden(self) -> dict[str, str]:
        """The hidden fields of the filters' form: what else the address asks for."""
        kept = {name: self._request.GET[name] for name in self.table.keeps if self._request.GET.get(name)}
        return kept | ({"size": str(self.size)} if self.size != SIZES[0] else {})


class ListPage(SignedInView):
    """A page that is a list. Its address says all that it shows, so that it can be sent on, bookmarked or saved."""

    table: ClassVar[Table]

    def read_table(
        self, choices: Mapping[str, Choices] | None = None, groups: Mapping[str, Sequence[ChoiceGroup]] | None = None
    ) -> TableState:
        return TableState(self.table, self.request, choices, groups)

    def list_page(self, template: str, state: TableState, /, **context: Any) -> HttpResponse:
        """Render a template that extends `pages/tables/list.html`; a list whose address has arguments has no views."""
        page = self.request.resolver_match.view_name if self.request.resolver_match else self.nav
        views = [] if self.kwargs else saved_views(user=person_of(self.request), area=self.area_id, page=page)
        shown: dict[str, Any] = {"table": state, "rows": state.rows, "pages": state.pages, "keyset": state.keyset}
        return self.page(template, **shown, saved_views=views, list_name="" if self.kwargs else page, **context)


class SavedViewPage(SignedInView):
    """Takes the forms about saved views, and redirects to the list with the form."""

    @classmethod
    def address_of_form(cls, request: HttpRequest) -> str:
        """Return the address of the list with its filters; without a list, the address of any other form."""
        try:
            return with_query(cls.address_of_list(request.POST.get("page", "")), request.POST.get("query", ""))
        except UnknownList:
            return super().address_of_form(request)

    @classmethod
    def address_of_list(cls, name: str) -> str:
        """Return the address of a list. Raises `UnknownList` for any other page."""
        try:
            address = reverse(name)
        except NoReverseMatch as error:
            raise UnknownList from error
        if not issubclass(getattr(resolve(address).func, "view_class", View), ListPage):
            raise UnknownList
        return address


def with_query(address: str, query: str) -> str:
    """Add a query to a list's address, without the position in the list."""
    known = view_of(QueryDict(query))
    return f"{address}?{known}" if known else address


class UnknownList(InvalidInput):
    message = "There is no such list."


class SavedViewForm(forms.Form):
    name = LineField(max_length=60)
    query = LineField(max_length=2000)


class SavedViewNew(SavedViewPage):
    """Saves what a list shows under a name, for this person in this area only."""

    keeps_form_data = True

    def post(self, request: HttpRequest) -> HttpResponse:
        page, query = request.POST.get("page", ""), view_of(QueryDict(request.POST.get("query", "")))
        address = with_query(self.address_of_list(page), query)
        form = SavedViewForm({"name": request.POST.get("name", ""), "query": query})
        try:
            self.save(form, page)
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
        return redirect(address)

    def save(self, form: SavedViewForm, page: str) -> None:
        if not form.is_valid():
            raise InvalidInput(
                _("Give the view a name of at most 60 characters. It also needs a filter or a sort order.")
            )
        view = save_view(user=person_of(self.request), area=self.area_id, page=page, **form.cleaned_data)
        messages.success(self.request, _("The view %(name)s was saved.") % {"name": view.name})


class SavedViewRemove(SavedViewPage):
    """Removes a saved view; a view that is gone or another person's is not found."""

    def post(self, request: HttpRequest) -> HttpResponse:
        address = self.address_of_list(request.POST.get("page", ""))
        try:
            view = forget_view(
                user=person_of(request), area=self.area_id, uuid=parse_uuid(request.POST.get("view", ""))
            )
        except ViewNotFound:
            messages.info(request, _("The view was already removed."))
        else:
            messages.success(request, _("The view %(name)s was removed.") % {"name": view.name})
        return redirect(address)
