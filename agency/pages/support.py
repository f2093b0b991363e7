"""Support's overview of one agency and search over all: each app declares its part in its `hooks.py`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from agency.models import Agency, AgencyKey
from config.hooks import Registry

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
class SupportFindSource:
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
support_find_sources = Registry[SupportFindSource](
    "sources of what support can find",
    called="`find_page` calls `find` of those that the person may see, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


@dataclass(frozen=True, slots=True)
class ShownRows:
    """The rows of a panel or a source; with `is_more` there are more."""

    declared: SupportPanel | SupportFindSource
    rows: Sequence[SupportRow]
    is_more: bool


def key_prefix(query: str) -> str:
    """Return the part of a key that is kept readable; empty if the query is too short to be a key."""
    return query[:PREFIX_LENGTH] if len(query) >= PREFIX_LENGTH and " " not in query else ""
