"""Search in the console and by support, and support's overview: each app declares its part in its `hooks.py`."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.models import Addon, Agency, AgencyKey, Member, Plan
from agency.pages.registry import StrOrPromise, in_order
from config.api.requests import parse_uuid
from config.db import name_key
from config.hooks import Registry

LONGEST_QUERY: Final = 200
# Results of each kind: in the palette, and on the page.
MOST_SUGGESTED: Final = 6
MOST_SHOWN: Final = 50
# One letter is in nearly every name, so no index can answer it.
SHORTEST_QUERY: Final = 2
FEWEST_DIGITS: Final = 5
LIKE_A_PHONE_NUMBER = re.compile(r"[\d\s()+./-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAction:
    """Something that can be begun with a result, on the page that `url_name` and `args` name."""

    url_name: str
    label: StrOrPromise
    args: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A search result: its name, a detail that tells it from others of that name, and its page.

    Its `actions` are offered if it is the only result of its kind.
    """

    title: StrOrPromise
    detail: StrOrPromise = ""
    url: str
    actions: tuple[ResultAction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSource:
    """What can be found of one app: `find` takes a query and the number of wanted results, and uses indexes alone."""

    name: str
    label: StrOrPromise
    order: int
    find: Callable[[Agency, str, int], Iterable[SearchResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchGroup:
    """The results of one source; with `is_more` there are more."""

    label: StrOrPromise
    items: list[SearchResult]
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


search_sources = Registry[SearchSource](
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


def matches_query(label: str, query: str) -> bool:
    """Return whether each word of the query begins a word of the label; an empty query matches every label."""
    words = name_key(label).replace("-", " ").split()
    return all(any(word.startswith(part) for word in words) for part in name_key(query).replace("-", " ").split())


def find(agency: Agency, query: str, *, most: int) -> list[SearchGroup]:
    """Find the agency's objects that match a query, at most `most` of each kind."""
    if len(query) < SHORTEST_QUERY:
        return []
    sources = sorted(search_sources, key=lambda source: source.order)
    groups = [group_of(source.label, source.find(agency, query, most + 1), most=most) for source in sources]
    return [group for group in groups if group.items]


def group_of(label: StrOrPromise, items: Iterable[SearchResult], *, most: int) -> SearchGroup:
    found = list(islice(items, most + 1))
    return SearchGroup(label=label, items=found[:most], is_more=len(found) > most)


# The agency app's own results: plans and add-ons, and the team. There are few of each.


def search_plans(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    return _found_items(Plan, "console:plan", agency, query, most)


def search_addons(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    return _found_items(Addon, "console:addon", agency, query, most)


def _found_items(
    model: type[Plan] | type[Addon], page: str, agency: Agency, query: str, most: int
) -> Iterator[SearchResult]:
    uuid = parse_uuid(query)
    wanted = Q(uuid=uuid) if uuid else Q(name_key__contains=name_key(query))
    for item in model._default_manager.filter(wanted, agency=agency).order_by("name_key", "id")[:most]:
        detail = _("Archived") if item.archived_at else ""
        yield SearchResult(title=item.name, detail=detail, url=reverse(page, args=[item.uuid]))


def search_members(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    rows = Member.objects.filter(Q(user__email__icontains=query) | Q(user__name__icontains=query), agency=agency)
    for member in rows.select_related("user").order_by("user__email", "id")[:most]:
        yield SearchResult(title=str(member.user), detail=member.get_role_display(), url=reverse("console:team"))


# Both kinds of API keys keep this many characters readable.
PREFIX_LENGTH: Final = AgencyKey._meta.get_field("prefix").max_length or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportRow:
    """One line of a panel or of search results: its title, a detail, and its page in the support admin."""

    title: str
    detail: str = ""
    url: str = ""
    is_problem: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportPanel:
    """Facts about an agency for people who have `permission`.

    `rows` takes a limit, and makes a bounded number of statements that indexes answer. `url_name` is the admin's list
    with all rows, filtered by the agency; with `is_searched` the panel has a search field for that list.
    """

    name: str
    label: str
    order: int
    permission: str
    rows: Callable[[Agency, int], Iterable[SupportRow]]
    url_name: str = ""
    is_searched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportSearchSource:
    """What people who have `permission` can find among all agencies; `find` takes a limit and uses indexes alone."""

    name: str
    label: str
    order: int
    permission: str
    find: Callable[[str, int], Iterable[SupportRow]]


support_panels = Registry[SupportPanel](
    "panels of support",
    called="`overview_page` calls `rows` of those that the person may see, by their `order`",
    transaction="none",
    failure="the page answers 500",
)
support_search_sources = Registry[SupportSearchSource](
    "sources of what support can find",
    called="`find_page` calls `find` of those that the person may see, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportStartPanel:
    """What is wrong among all agencies, for people who have `permission`; `rows` takes a limit and uses indexes alone.

    `url_name` is the admin's list in which people look further.
    """

    name: str
    label: str
    order: int
    permission: str
    rows: Callable[[int], Iterable[SupportRow]]
    url_name: str


support_start_panels = Registry[SupportStartPanel](
    "panels of support's start page",
    called="`start_panels` calls `rows` of those that the person may see, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


@dataclass(frozen=True, slots=True)
class ShownRows:
    """The rows of a panel or a source; with `is_more` there are more."""

    declared: SupportPanel | SupportSearchSource | SupportStartPanel
    rows: Sequence[SupportRow]
    is_more: bool


MOST_START_ROWS: Final = 8


def start_panels(may_see: Callable[[str], bool]) -> list[ShownRows]:
    """Give the panels of support's start page; `may_see` says whether the person has a permission."""
    shown = []
    for panel in in_order(support_start_panels):
        if may_see(panel.permission):
            found = list(islice(panel.rows(MOST_START_ROWS + 1), MOST_START_ROWS + 1))
            shown.append(ShownRows(panel, found[:MOST_START_ROWS], len(found) > MOST_START_ROWS))
    return shown


def key_prefix(query: str) -> str:
    """Return the part of a key that is kept readable; empty if the query is too short to be a key."""
    return query[:PREFIX_LENGTH] if len(query) >= PREFIX_LENGTH and " " not in query else ""
