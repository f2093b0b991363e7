"""What apps show of a day's work on the dashboard's home page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from agency.pages.registry import StrOrPromise, in_order
from config.hooks import Registry
from config.wall_clock import instant_of
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.menu import lacks

MOST_ROWS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeRow:
    """One line of a section, with the URL of the page that it is about."""

    title: str
    detail: str = ""
    at: datetime
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeContent:
    """The first rows of a section, and a sentence about all of them."""

    rows: Sequence[HomeRow]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeSection:
    """One app's part of the home page; without rows it is left out.

    `content` takes the moment of the page and how many rows it may give. It takes a bounded number of statements, each
    along an index. `url_name` is the page with all rows. `limit` names the limit of a plan that the section needs. A
    section that `is_today` shows its times as times of today.
    """

    name: str
    label: StrOrPromise
    order: int
    url_name: str
    content: Callable[[Workspace, datetime, int], HomeContent]
    limit: str = ""
    is_today: bool = False


home_sections = Registry[HomeSection](
    "sections of the dashboard's home page",
    called="`sections_of` calls each for the dashboard's home page, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


def sections_of(workspace: Workspace, now: datetime) -> list[tuple[HomeSection, HomeContent]]:
    """Give the sections that have rows, in order, without those that the plan lacks."""
    held = [section for section in in_order(home_sections) if not lacks(workspace, section.limit)]
    shown = ((section, section.content(workspace, now, MOST_ROWS)) for section in held)
    return [(section, content) for section, content in shown if content.rows]


def today_of(workspace: Workspace, now: datetime) -> tuple[datetime, datetime]:
    """Give the beginning and the end of the day by the workspace's clock."""
    midnight = datetime.combine(now.astimezone(ZoneInfo(workspace.timezone)).date(), time())
    return instant_of(midnight, workspace.timezone), instant_of(midnight + timedelta(days=1), workspace.timezone)
