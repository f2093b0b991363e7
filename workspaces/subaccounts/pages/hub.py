"""What apps add to the console's page of one sub-account: panels of a few rows each, and what needs attention."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Final

from django.db.models import TextChoices
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from agency.pages.registry import Concern, StrOrPromise, in_order
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import WorkspaceConcernSource

MOST_ROWS: Final = 4
MOST_OF_ONE_PANEL: Final = 100


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
    """A panel as the page shows it; `is_more` says that there are more rows than these."""

    declared: HubPanel
    content: HubContent
    rows: list[HubRow] = field(default_factory=list)
    is_more: bool = False


def panels_of(workspace: Workspace, *, whole: str = "") -> list[ShownPanel]:
    """Give the page's panels in order, a few rows of each, of the one named `whole` up to a hundred."""
    return [_shown(panel, workspace, whole) for panel in in_order(hub_panels)]


def _shown(panel: HubPanel, workspace: Workspace, whole: str) -> ShownPanel:
    most = MOST_OF_ONE_PANEL if panel.name == whole else MOST_ROWS
    content = panel.content(workspace, most + 1)
    rows = list(islice(content.rows, most + 1))
    return ShownPanel(panel, content, rows[:most], len(rows) > most)


def hub_concerns_of(workspace: Workspace) -> list[Concern]:
    return [concern for source in in_order(hub_concern_sources) for concern in source.concerns(workspace)]


def opened_as_customer(workspace: Workspace, url_name: str, *args: object, label: StrOrPromise = "") -> list[HubAction]:
    """Give the action that opens a page of the customer's dashboard; a suspended sub-account has none."""
    if not workspace.is_active:
        return []
    fields = {"page": reverse(url_name, args=args)}
    url = reverse("console:sub-account-open", args=[workspace.uuid])
    return [HubAction(label=label or _("Open as customer"), url=url, fields=fields, for_writers=False)]
