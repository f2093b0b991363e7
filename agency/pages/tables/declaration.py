"""The declaration of a list: its columns, the orders it can be sorted by, and its filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agency.pages.registry import StrOrPromise

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter of the list: one of its choices, a day, a time in UTC, or else a text to search for.

    `choices` that only the request knows are given when the table is read.
    """

    name: str
    label: StrOrPromise
    placeholder: StrOrPromise = ""
    is_choice: bool = False
    is_date: bool = False
    is_moment: bool = False
    choices: Choices = ()

    @property
    def input_type(self) -> str:
        """The type of its input, unless it is a choice."""
        return "date" if self.is_date else "datetime-local" if self.is_moment else "search"


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
