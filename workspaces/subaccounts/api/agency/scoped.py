"""Looking up what a path or a body names, among the caller's own only."""

from uuid import UUID

from agency.api.surface import AgencyViewSet
from agency.models import Addon, Plan
from agency.services import AddonNotFound, PlanNotFound
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import WorkspaceNotFound


class SubAccountViewSet(AgencyViewSet):
    """A set of views whose paths name a sub-account of the agency."""

    def workspace_of(self, uuid: UUID | None) -> Workspace:
        """Find a sub-account of the agency; malformed, unknown and foreign ids read alike."""
        found: Workspace | None = (
            Workspace.objects.of(self.agency).select_related("plan").filter(uuid=uuid).first() if uuid else None
        )
        if found is None:
            raise WorkspaceNotFound
        return found

    def plan_of(self, uuid: UUID) -> Plan:
        plan = Plan.objects.filter(agency=self.agency, archived_at=None, uuid=uuid).first()
        if plan is None:
            raise PlanNotFound
        return plan

    def addon_of(self, uuid: UUID | None, *, archived: bool = False) -> Addon:
        """Find an add-on of the agency; an archived one can be taken away but no longer granted."""
        addons = Addon.objects.filter(agency=self.agency)
        addon = (addons if archived else addons.filter(archived_at=None)).filter(uuid=uuid).first() if uuid else None
        if addon is None:
            raise AddonNotFound
        return addon
