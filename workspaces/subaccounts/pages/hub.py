"""What apps add to the console's page of one sub-account: panels of a few rows each, and what needs attention."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from django.db import transaction
from django.db.models import TextChoices
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from agency.pages.registry import Concern, StrOrPromise, in_order
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import WorkspaceConcernSource

logger = logging.getLogger(__name__)
MOST_ROWS: Final = 4
MOST_OF_ONE_PANEL: Final = 100
Read = TypeVar("Read")


class Column(TextChoices):
    """Where a panel stands on a wide page; on a narrow one the main column comes first."""

    MAIN = "main"
    SIDE = "side"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAction:
    """A link, or with `fields` a form that posts them; `name` is its whole name where the label alone says too little.

    Viewers do not see what is `for_writers`.
    """

    label: StrOrPromise
    url: str
    name: StrOrPromise = ""
    fields: Mapping[str, str] | None = None
    for_writers: bool = True
    is_primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRow:
    """One line of a panel; `status` is a stored status, of which `status_label` is the text."""

    title: StrOrPromise
    detail: StrOrPromise = ""
    at: datetime | None = None
    at_label: StrOrPromise = ""
    url: str = ""
    status_label: StrOrPromise = ""
    tone: str = ""
    actions: Sequence[HubAction] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HubContent:
    """What a panel shows: rows, what can be done with all of it, and what is said where there are no rows."""

    rows: Iterable[HubRow]
    empty: StrOrPromise
    actions: Sequence[HubAction] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPanel:
    """A panel of the page. `content` gives at most so many rows as it is asked for.

    It takes a bounded number of statements, however many rows there are, and each reads by an index.
    """

    name: str
    label: StrOrPromise
    order: int
    content: Callable[[Workspace, int], HubContent]
    column: Column = Column.MAIN


hub_panels = Registry[HubPanel]("panels of a sub-account's page")
hub_concern_sources = Registry[WorkspaceConcernSource]("sources of what an agency should look at in a sub-account")


@dataclass(frozen=True, slots=True)
class ShownPanel:
    """A panel as the page shows it; `is_more` says that there are more rows than these.

    One without content could not be loaded.
    """

    declared: HubPanel
    content: HubContent | None = None
    rows: list[HubRow] = field(default_factory=list)
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class HubPage:
    """What all apps add to the page; `is_unchecked` says that a source of concerns could not be read."""

    panels: list[ShownPanel]
    concerns: list[Concern]
    is_unchecked: bool


class _Isolation:
    """Keeps what one app raises from taking the page away: it is logged, and the rest is shown.

    Within a transaction, a statement that failed is undone by a savepoint: everything here only reads, and one serves
    all of it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.savepoint = transaction.savepoint()

    def read(self, name: str, read: Callable[[], Read]) -> Read | None:
        try:
            return read()
        except Exception:  # whatever the panels and sources of all apps may raise
            fields = {"part": name, "workspace": str(self.workspace.uuid)}
            logger.exception("part of a sub-account's page could not be loaded", extra=fields)
            transaction.savepoint_rollback(self.savepoint)
            return None


def hub_page(workspace: Workspace, *, whole: str = "") -> HubPage:
    """Give the page's panels in order, a few rows of each, of the one named `whole` up to a hundred; and concerns."""
    isolation = _Isolation(workspace)
    panels = [_shown(panel, isolation, whole) for panel in in_order(hub_panels)]
    sources = in_order(hub_concern_sources)
    found = [isolation.read(source.name, partial(_concerns, source, workspace)) for source in sources]
    concerns = [concern for of_source in found for concern in of_source or ()]
    return HubPage(panels, concerns, is_unchecked=None in found)


def _shown(panel: HubPanel, isolation: _Isolation, whole: str) -> ShownPanel:
    most = MOST_OF_ONE_PANEL if panel.name == whole else MOST_ROWS
    return isolation.read(panel.name, partial(_loaded, panel, isolation.workspace, most)) or ShownPanel(panel)


def _loaded(panel: HubPanel, workspace: Workspace, most: int) -> ShownPanel:
    content = panel.content(workspace, most + 1)
    rows = list(islice(content.rows, most + 1))
    return ShownPanel(panel, content, rows[:most], len(rows) > most)


def _concerns(source: WorkspaceConcernSource, workspace: Workspace) -> list[Concern]:
    return list(source.concerns(workspace))


def opened_as_customer(workspace: Workspace, url_name: str, *args: object, label: StrOrPromise = "") -> list[HubAction]:
    """Give the action that opens a page of the customer's dashboard; a suspended sub-account has none."""
    if not workspace.is_active:
        return []
    fields = {"page": reverse(url_name, args=args)}
    url = reverse("console:sub-account-open", args=[workspace.uuid])
    return [HubAction(label=label or _("Open as customer"), url=url, fields=fields, for_writers=False)]
