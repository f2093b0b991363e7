"""The dashboard's menu: what a plan leaves out of it, and the counts in it and at the bell."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Model, QuerySet

from agency import limits
from agency.models import User
from agency.pages.registry import dashboard_menu, fill_counts, render_menu
from agency.services.notifications.delivery import unread_notifications
from config.db import CountOfRows
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace

# Of what is counted in the menu; more are shown as 99+.
MOST_COUNTED: Final = 100
NOTIFICATIONS: Final = "app:notifications"


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuCount:
    """How many things wait on a page of the menu, whose entry `is_counted`.

    An index gives `rows`, of which `MOST_COUNTED` are counted.
    """

    url_name: str
    rows: Callable[[Workspace], "QuerySet[Model]"]

    @property
    def name(self) -> str:
        return self.url_name


menu_counts = Registry[MenuCount](
    "counts in the dashboard's menu",
    called="`count_for_frame` calls `rows` of each for every page of the dashboard, and counts all in one statement",
    transaction="none",
    failure="the page answers 500",
)


def lacks(workspace: Workspace, limit: str) -> bool:
    """Say whether the workspace's plan allows nothing of what a page needs; a page without a limit needs nothing."""
    return bool(limit) and limits.value(workspace.limits, limit) == 0


def render_menu_of(workspace: Workspace, nav: str, counts: Mapping[str, int]) -> str:
    """Render the menu with the entry `nav` as the current one."""
    lacking = frozenset(entry.limit for entry in dashboard_menu if lacks(workspace, entry.limit))
    menu = render_menu("pages/dashboard/_menu.html", dashboard_menu, nav, lacking=lacking)
    return fill_counts(menu, {one.url_name: counts[one.url_name] for one in menu_counts})


def count_for_frame(workspace: Workspace, user: User, kinds: Collection[str], area: UUID) -> dict[str, int]:
    """Count what the frame shows, by the names of pages, in one statement: unread notifications and what waits."""
    rows: dict[str, QuerySet[Model]] = {one.url_name: one.rows(workspace) for one in menu_counts}
    rows[NOTIFICATIONS] = unread_notifications(user, area, kinds)
    counts = [CountOfRows(one.order_by().values("pk")[:MOST_COUNTED]) for one in rows.values()]
    counted = Workspace.objects.values_list(*counts).get(pk=workspace.pk)
    return dict(zip(rows, counted, strict=True))
