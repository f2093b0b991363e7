"""What has happened in a workspace, as its own people read it: the agency's visits too."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from agency.models import ActivityEntry
from agency.pages.lists import keyset_page
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.models import Workspace

OWN_KINDS = frozenset({"workspace_key", "customer"})


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


class Activity(DashboardView):
    """No network addresses, and of what the agency has done from its console only what it was."""

    nav = "app:activity"

    def get(self, request: HttpRequest) -> HttpResponse:
        own = ActivityEntry.objects.filter(workspace_uuid=self.workspace.uuid).select_related("agency")
        entries, names = keyset_page(request, own), Names(self.workspace)
        rows = [(one, names.of_actor(one), names.of_target(one)) for one in entries.rows]
        return self.page("subaccounts/dashboard/activity.html", entries=entries, rows=rows)
