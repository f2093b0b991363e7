"""The activity entry of a change in the catalogue."""

from typing import Any

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes
from workspaces.catalogue.models import Product, Service, ServiceCategory
from workspaces.subaccounts.models import Workspace

Entry = Product | Service | ServiceCategory
KINDS: dict[type[Any], str] = {Product: "product", Service: "service", ServiceCategory: "service_category"}


def record_catalogue_activity(
    *, workspace: Workspace, entry: Entry, what: str, by: Actor, changes: Changes | None = None
) -> None:
    """Add an entry such as `product.changed` to the activity log of the agency and the sub-account."""
    kind = KINDS[type(entry)]
    record_activity(
        by=by,
        action=f"{kind}.{what}",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=(kind, entry.uuid, entry.name),
        changes=changes,
    )
