"""Records of changes to invoices: activity entries, and events for the workspace's webhooks."""

from datetime import datetime

from agency.actors import SYSTEM, Actor
from agency.services.activity import Changes
from agency.services.events import subscribed_events
from workspaces.finance.models import Invoice
from workspaces.subaccounts.services import record_workspace_activity, record_workspace_event


def record_invoice_activity(*, invoice: Invoice, what: str, by: Actor = SYSTEM, changes: Changes | None = None) -> None:
    """Add an entry such as `invoice.issued`. It names the invoice by its number, and never the buyer."""
    details = {"invoice": str(invoice.uuid), "number": invoice.number or ""}
    record_workspace_activity(
        workspace=invoice.workspace, action=f"invoice.{what}", by=by, details=details, changes=changes
    )


def record_invoice_event(*, invoice: Invoice, name: str, now: datetime) -> None:
    """Record an event with the invoice as the API reads it, in the change's transaction."""
    if name in subscribed_events({invoice.workspace_id}).get(invoice.workspace_id, ()):
        shown = Invoice.objects.with_parts().get(pk=invoice.pk)
        record_workspace_event(workspace=invoice.workspace, name=name, now=now, invoice=shown)
