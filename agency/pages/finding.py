"""Search for an agency's objects by typed text: each app declares in its `hooks.py` what can be found."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from agency.models import Agency
from agency.pages.registry import StrOrPromise
from config.hooks import Registry

LONGEST_QUERY: Final = 200
# One letter is in nearly every name, so no index can answer it.
SHORTEST_QUERY: Final = 2
FEWEST_DIGITS: Final = 5
LIKE_A_PHONE_NUMBER = re.compile(r"[\d\s()+./-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAction:
    """Something that can be begun with a result, on the page that `url_name` and `args` name."""

    url_name: str
    label: StrOrPromise
    args: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A search result: its name, a detail that tells it from others of that name, and its page.

    Its `actions` are offered if it is the only result of its kind.
    """

    title: StrOrPromise
    detail: StrOrPromise = ""
    url: str
    actions: tuple[FoundAction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FindSource:
    """What can be found of one app: `find` takes a query and the number of wanted results, and uses indexes alone."""

    name: str
    label: StrOrPromise
    order: int
    find: Callable[[Agency, str, int], Iterable[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroup:
    """The results of one source; with `is_more` there are more."""

    label: StrOrPromise
    items: list[Found]
    is_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleAction:
    """Something that can be begun on its own page, which `url_name` names without arguments."""

    url_name: str
    label: StrOrPromise
    order: int

    @property
    def name(self) -> str:
        return self.url_name


find_sources = Registry[FindSource](
    "sources of what can be found",
    called="`find` calls each when staff search in the console, by their `order`",
    transaction="none",
    failure="the page answers 500",
)
console_actions = Registry[ConsoleAction](
    "actions of the console",
    called="the console's search reads them (`FindPage`), by their `order`",
    transaction="none",
    failure="cannot happen: the items are data",
)


def read_query(text: str) -> str:
    """Return the query without control and surrogate characters, and with single blanks."""
    kept = "".join(" " if unicodedata.category(one) in {"Cc", "Cs"} else one for one in text[:LONGEST_QUERY])
    return " ".join(kept.split())


def digits_of_phone(query: str) -> str:
    """Return the digits of a possible part of a phone number, without the zeros that stand for a country or a city."""
    digits = "".join(re.findall(r"[0-9]", query)).lstrip("0")
    return digits if LIKE_A_PHONE_NUMBER.fullmatch(query) and len(digits) >= FEWEST_DIGITS else ""


def find(agency: Agency, query: str, *, most: int) -> list[FoundGroup]:
    """Find the agency's objects that match a query, at most `most` of each kind."""
    if len(query) < SHORTEST_QUERY:
        return []
    sources = sorted(find_sources, key=lambda source: source.order)
    groups = [group_of(source.label, source.find(agency, query, most + 1), most=most) for source in sources]
    return [group for group in groups if group.items]


def group_of(label: StrOrPromise, items: Iterable[Found], *, most: int) -> FoundGroup:
    found = list(islice(items, most + 1))
    return FoundGroup(label=label, items=found[:most], is_more=len(found) > most)
