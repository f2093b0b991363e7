"""Search in the dashboard: each app declares in its `hooks.py` what people can find of a workspace."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.registry import StrOrPromise, dashboard_menu, in_order, in_sections
from agency.pages.search import MOST_SHOWN, SearchGroup, SearchResult, group_of, matches_query
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.menu import lacks

# An index of parts of three letters serves these searches.
SHORTEST_QUERY: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSearchSource:
    """What can be found of one app in a workspace.

    `find` takes a query and the number of wanted results, and looks at a bounded number of rows, or uses an index.
    """

    name: str
    label: StrOrPromise
    order: int
    find: Callable[[Workspace, str, int], Iterable[SearchResult]]
    limit: str = ""


dashboard_search_sources = Registry[WorkspaceSearchSource](
    "sources of what can be found in the dashboard",
    called="`find_in_workspace` calls each when people search in the dashboard, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


def find_in_workspace(workspace: Workspace, query: str, *, most: int) -> list[SearchGroup]:
    """Find what matches a query, at most `most` of each kind, and then pages of the menu."""
    long_enough = len(query) >= SHORTEST_QUERY
    sources = [one for one in in_order(dashboard_search_sources) if long_enough and not lacks(workspace, one.limit)]
    groups = [group_of(one.label, one.find(workspace, query, most + 1), most=most) for one in sources]
    groups.append(group_of(_("Pages"), _pages(workspace, query), most=MOST_SHOWN))
    return [group for group in groups if group.items]


def _pages(workspace: Workspace, query: str) -> Iterator[SearchResult]:
    for section in in_sections(dashboard_menu):
        for entry in section.entries:
            if not lacks(workspace, entry.limit) and matches_query(f"{entry.label} {section.label}", query):
                yield SearchResult(title=entry.label, detail=section.label, url=reverse(entry.url_name))
