"""The activity log as a workspace's own people see it: the names of actors and targets, and the filters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry
from agency.models.records import BY_AGENCY_OR_SUPPORT
from agency.pages.activity import ActorFilter, filter_entries, filters_by
from workspaces.subaccounts.models import Workspace

OWN_KINDS: Final = frozenset({"workspace_key", "customer"})
# Entries that show their actor's own name. `Names.is_own` is the same rule for one entry.
OWN: Final = ~Q(acting_for="") | Q(of_workspace=True) | Q(actor_kind__in=sorted(OWN_KINDS))
DOORS: Final = (
    ActorFilter("people", gettext_lazy("People"), Q(actor_kind="user", of_workspace=True)),
    ActorFilter("key", gettext_lazy("API key"), Q(actor_kind="workspace_key")),
    ActorFilter("connect", gettext_lazy("Connect page"), Q(actor_kind="customer")),
    ActorFilter("agency", gettext_lazy("Agency"), BY_AGENCY_OR_SUPPORT),
    ActorFilter("system", gettext_lazy("Automatic"), Q(actor_kind="system")),
)
FILTERS: Final = filters_by(DOORS)


@dataclass(frozen=True, slots=True)
class Names:
    """The names in the log: the workspace's people and keys by their own names, agency staff by the agency's name.

    The fields stored with each entry decide, so that names stay the same when somebody leaves a team or the workspace
    moves. Agency staff who opened the dashboard as customer appear with their own name and the agency's.
    """

    workspace: Workspace

    def is_own(self, entry: ActivityEntry) -> bool:
        """Say whether the workspace's people, keys or customers made the change, or agency staff as customer."""
        return bool(entry.acting_for) or entry.of_workspace or entry.actor_kind in OWN_KINDS

    def of_actor(self, entry: ActivityEntry) -> str:
        agency = (entry.agency or self.workspace.agency).name
        if entry.acting_for:
            return _("%(person)s (%(agency)s) as customer") % {"person": entry.actor_label, "agency": agency}
        if entry.actor_kind == "system":
            return _("Automatic")
        return entry.actor_label if self.is_own(entry) else agency

    def of_target(self, entry: ActivityEntry) -> str:
        """Name the changed object; empty for changes of the agency, and for the workspace, which the page is about."""
        return entry.target_name if self.is_own(entry) and entry.target_kind != "workspace" else ""


def entries_of(workspace: Workspace, asked: Mapping[str, str]) -> "QuerySet[ActivityEntry]":
    """Give a workspace's entries that match all filters.

    The filters by person and object search only entries that show both, so that nobody can guess hidden names.
    """
    entries = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid).select_related("agency")
    if asked.get("person") or asked.get("object"):
        entries = entries.filter(OWN)
    return filter_entries(entries, asked, DOORS)
