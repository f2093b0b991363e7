"""Finding things of an agency by what somebody types: each app declares in its `hooks.py` what of it can be found."""

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
# One letter is in nearly every name: no index answers it.
SHORTEST_QUERY: Final = 2
FEWEST_DIGITS: Final = 5
LIKE_A_PHONE_NUMBER = re.compile(r"[\d\s()+./-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAction:
    """What can be begun with something that was found, on the page that `url_name` and `args` name."""

    url_name: str
    label: StrOrPromise
    args: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something that was found: its name, what tells it from others of that name, its page, and what it is for.

    Its `actions` are offered where it is the only one of its kind that was found.
    """

    title: StrOrPromise
    detail: StrOrPromise = ""
    url: str
    actions: tuple[FoundAction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FindSource:
    """What of one app can be found: `find` takes a query and how many are wanted, and asks indexes alone."""

    name: str
    label: StrOrPromise
    order: int
    find: Callable[[Agency, str, int], Iterable[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroup:
    """What one source has found; with `is_more` not all of it."""

    label: StrOrPromise
    items: list[Found]
    is_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleAction:
    """Something that can be begun on a page of its own, which `url_name` names without arguments."""

    url_name: str
    label: StrOrPromise
    order: int

    @property
    def name(self) -> str:
        return self.url_name


find_sources = Registry[FindSource]("sources of what can be found")
console_actions = Registry[ConsoleAction]("actions of the console")


def read_query(text: str) -> str:
    """Give what somebody looks for: without characters that no text has, its blanks as one each."""
    kept = "".join(" " if unicodedata.category(one) in {"Cc", "Cs"} else one for one in text[:LONGEST_QUERY])
    return " ".join(kept.split())


def digits_of_phone(query: str) -> str:
    """Give the digits of what may be a part of a phone number, without zeros that stand for a country or a city."""
    digits = "".join(re.findall(r"[0-9]", query)).lstrip("0")
    return digits if LIKE_A_PHONE_NUMBER.fullmatch(query) and len(digits) >= FEWEST_DIGITS else ""


def find(agency: Agency, query: str, *, most: int) -> list[FoundGroup]:
    """Find what of an agency's a query names, at most so many of each kind."""
    if len(query) < SHORTEST_QUERY:
        return []
    sources = sorted(find_sources, key=lambda source: source.order)
    groups = [group_of(source.label, source.find(agency, query, most + 1), most=most) for source in sources]
    return [group for group in groups if group.items]


def group_of(label: StrOrPromise, items: Iterable[Found], *, most: int) -> FoundGroup:
    found = list(islice(items, most + 1))
    return FoundGroup(label=label, items=found[:most], is_more=len(found) > most)
