"""Registries for the console's page of one sub-account and the dashboard's home page: panels, steps, warnings."""

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

from agency.pages.registry import Alert, StrOrPromise, in_order
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStep:
    """One step on the way to the first message, with the URL of the page where it is done."""

    title: StrOrPromise
    text: StrOrPromise
    url: str
    action: StrOrPromise
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpSource:
    """One app's steps. `steps` checks what the workspace has, in a bounded number of statements."""

    name: str
    order: int
    steps: Callable[[Workspace], Iterable[SetUpStep]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceConcernSource:
    """One app's warnings about a workspace. `concerns` takes a bounded number of statements."""

    name: str
    order: int
    concerns: Callable[[Workspace], Iterable[Alert]]


set_up_sources = Registry[SetUpSource](
    "sources of set-up steps",
    called="`checklist_of` calls each for the dashboard's home page, by their `order`",
    transaction="none",
    failure="the page answers 500",
)
workspace_concern_sources = Registry[WorkspaceConcernSource](
    "sources of a workspace's concerns",
    called="`concerns_of_workspace` calls each for the dashboard's home page, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


@dataclass(frozen=True, slots=True)
class Checklist:
    """The steps in order. `following` is the first that is not done."""

    steps: list[SetUpStep]

    @property
    def following(self) -> SetUpStep | None:
        return next((step for step in self.steps if not step.is_done), None)

    @property
    def done_count(self) -> int:
        return sum(step.is_done for step in self.steps)


def checklist_of(workspace: Workspace) -> Checklist:
    return Checklist([step for source in in_order(set_up_sources) for step in source.steps(workspace)])


def concerns_of_workspace(workspace: Workspace) -> list[Alert]:
    return [concern for source in in_order(workspace_concern_sources) for concern in source.concerns(workspace)]


logger = logging.getLogger(__name__)
MOST_ROWS: Final = 4
MOST_OF_ONE_PANEL: Final = 100
Result = TypeVar("Result")


class Column(TextChoices):
    """The column of a panel on a wide page. On a narrow page the main column comes first."""

    MAIN = "main"
    SIDE = "side"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAction:
    """A link, or with `fields` a form that posts them.

    `name` is the ARIA label, for a visible label that alone says too little. `for_writers` hides it from viewers.
    """

    label: StrOrPromise
    url: str
    name: StrOrPromise = ""
    fields: Mapping[str, str] | None = None
    for_writers: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRow:
    """One line of a panel. `tone` is the CSS class of the badge that shows `status_label`."""

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
    """The content of a panel: rows, actions on the whole panel, and the text shown without rows."""

    rows: Iterable[HubRow]
    empty: StrOrPromise
    actions: Sequence[HubAction] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPanel:
    """A panel of the page. `content` gives at most the requested number of rows.

    It takes a bounded number of statements, however many rows there are, and each statement uses an index.
    """

    name: str
    label: StrOrPromise
    order: int
    content: Callable[[Workspace, int], HubContent]
    column: Column = Column.MAIN


hub_panels = Registry[HubPanel](
    "panels of a sub-account's page",
    called="`hub_page` calls each for the console's page of a sub-account, by their `order`",
    transaction="none",
    failure="is logged; the panel says that it could not be loaded, and the others are shown",
)
hub_concern_sources = Registry[WorkspaceConcernSource](
    "sources of what an agency should look at in a sub-account",
    called="`hub_page` calls each for the console's page of a sub-account, by their `order`",
    transaction="none",
    failure="is logged; the page says that something was not checked, and the others are shown",
)


@dataclass(frozen=True, slots=True)
class ShownPanel:
    """A panel as the page shows it. `is_more` says that there are more rows than these.

    A panel without content could not be loaded.
    """

    declared: HubPanel
    content: HubContent | None = None
    rows: list[HubRow] = field(default_factory=list)
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class HubPage:
    """The parts of the page that apps add. `is_unchecked` says that a source of concerns could not be read."""

    panels: list[ShownPanel]
    concerns: list[Alert]
    is_unchecked: bool


class _FailureIsolation:
    """Logs an exception of one app's panel or source, so that the rest of the page is still shown.

    Inside a transaction, a rollback to the savepoint clears a failed statement. One savepoint is enough, because all
    panels and sources only read.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.savepoint = transaction.savepoint()

    def read(self, name: str, read: Callable[[], Result]) -> Result | None:
        try:
            return read()
        except Exception:  # any error of any app's panels and sources
            fields = {"part": name, "workspace": str(self.workspace.uuid)}
            logger.exception("part of a sub-account's page could not be loaded", extra=fields)
            transaction.savepoint_rollback(self.savepoint)
            return None


def hub_page(workspace: Workspace, *, whole: str = "") -> HubPage:
    """Give the page's panels in order, and the concerns. The panel `whole` has up to 100 rows, the others a few."""
    isolation = _FailureIsolation(workspace)
    panels = [_shown(panel, isolation, whole) for panel in in_order(hub_panels)]
    sources = in_order(hub_concern_sources)
    found = [isolation.read(source.name, partial(_concerns, source, workspace)) for source in sources]
    concerns = [concern for of_source in found for concern in of_source or ()]
    return HubPage(panels, concerns, is_unchecked=None in found)


def _shown(panel: HubPanel, isolation: _FailureIsolation, whole: str) -> ShownPanel:
    most = MOST_OF_ONE_PANEL if panel.name == whole else MOST_ROWS
    return isolation.read(panel.name, partial(_loaded, panel, isolation.workspace, most)) or ShownPanel(panel)


def _loaded(panel: HubPanel, workspace: Workspace, most: int) -> ShownPanel:
    content = panel.content(workspace, most + 1)
    rows = list(islice(content.rows, most + 1))
    return ShownPanel(panel, content, rows[:most], len(rows) > most)


def _concerns(source: WorkspaceConcernSource, workspace: Workspace) -> list[Alert]:
    return list(source.concerns(workspace))


def opened_as_customer(workspace: Workspace, url_name: str, *args: object, label: StrOrPromise = "") -> list[HubAction]:
    """Give the action that opens a page of the customer's dashboard; nothing for a suspended sub-account."""
    if not workspace.is_active:
        return []
    fields = {"page": reverse(url_name, args=args)}
    url = reverse("console:sub-account-open", args=[workspace.uuid])
    return [HubAction(label=label or _("Open as customer"), url=url, fields=fields, for_writers=False)]
