"""Sub-accounts and their channels in the results of the console's search."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.models import Agency
from agency.pages.search import ResultAction, SearchResult, digits_of_phone
from workspaces.subaccounts.models import CHANNEL_NAMES
from workspaces.subaccounts.models.workspaces import Workspace
from workspaces.subaccounts.services.finding import find_channels, find_workspaces

# No network gives a channel a shorter id.
SHORTEST_CHANNEL_ID = 5


def found_workspaces(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    for workspace in find_workspaces(agency, query, digits=digits_of_phone(query), most=most):
        yield SearchResult(
            title=workspace.name,
            detail=" · ".join(filter(None, _details(workspace))),
            url=reverse("console:sub-account", args=[workspace.uuid]),
            actions=tuple(_actions(workspace)),
        )


def _actions(workspace: Workspace) -> Iterator[ResultAction]:
    """Give the most frequent actions on a sub-account. Only the sub-account's page has the button to restore it."""
    names = [("plan", _("Assign plan")), ("edit", _("Edit")), ("owner", _("Owner")), ("activity", _("Activity"))]
    for name, label in [("suspend", _("Suspend")), *names] if workspace.is_active else names:
        yield ResultAction(url_name=f"console:sub-account-{name}", label=label, args=(workspace.uuid,))


def _details(workspace: Workspace) -> Iterator[str]:
    """Give the details that tell sub-accounts of the same name apart."""
    if not workspace.is_active:
        yield _("Suspended")
    yield workspace.owner_name
    yield workspace.owner_email
    yield workspace.external_id or ""
    yield workspace.phone


def found_channels(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    if len(query) < SHORTEST_CHANNEL_ID:
        return
    for channel in find_channels(agency, query, digits=digits_of_phone(query), most=most):
        yield SearchResult(
            title=channel.handle or channel.name,
            detail=f"{CHANNEL_NAMES[channel.platform]} · {channel.workspace.name}",
            url=reverse("console:sub-account", args=[channel.workspace.uuid]),
        )
