"""How a workspace's own people read its activity: who has done what, and what narrows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry
from agency.models.activity import BY_THE_AGENCY
from agency.pages.activity_filters import Door, filters_by, narrowed
from workspaces.subaccounts.models import Workspace

OWN_KINDS: Final = frozenset({"workspace_key", "customer"})
# What is shown with the name of the person who has done it, as `Names.is_own` says of an entry.
OWN: Final = ~Q(acting_for="") | Q(of_workspace=True) | Q(actor_kind__in=sorted(OWN_KINDS))
DOORS: Final = (
    Door("people", gettext_lazy("People"), Q(actor_kind="user", of_workspace=True)),
    Door("key", gettext_lazy("API key"), Q(actor_kind="workspace_key")),
    Door("connect", gettext_lazy("Connect page"), Q(actor_kind="customer")),
    Door("agency", gettext_lazy("Agency"), BY_THE_AGENCY),
    Door("system", gettext_lazy("Automatic"), Q(actor_kind="system")),
)
FILTERS: Final = filters_by(DOORS)


@dataclass(frozen=True, slots=True)
class Names:
    """Who has done something: the workspace's people and keys by their names, the agency by its own.

    What is written down with each entry decides, so that nobody's name begins to show, or ceases to, when somebody
    leaves a team or the workspace moves. Somebody of the agency who has opened the dashboard stands there with both
    names, the agency's as whose they came.
    """

    workspace: Workspace

    def is_own(self, entry: ActivityEntry) -> bool:
        """Say whether the workspace's own people, keys or customers have done it, or the agency in their place."""
        return bool(entry.acting_for) or entry.of_workspace or entry.actor_kind in OWN_KINDS

    def of_actor(self, entry: ActivityEntry) -> str:
        agency = (entry.agency or self.workspace.agency).name
        if entry.acting_for:
            return _("%(person)s (%(agency)s) as customer") % {"person": entry.actor_label, "agency": agency}
        if entry.actor_kind == "system":
            return _("Automatic")
        return entry.actor_label if self.is_own(entry) else agency

    def of_target(self, entry: ActivityEntry) -> str:
        """Name what it was done to; the workspace itself is what the whole page is about."""
        return entry.target_name if self.is_own(entry) and entry.target_kind != "workspace" else ""


def entries_of(workspace: Workspace, asked: Mapping[str, str]) -> "QuerySet[ActivityEntry]":
    """Keep a workspace's entries that all filters keep.

    Whose name and target are not shown is not found by them either: guessing would tell them.
    """
    entries = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid).select_related("agency")
    if asked.get("person") or asked.get("object"):
        entries = entries.filter(OWN)
    return narrowed(entries, asked, DOORS)
