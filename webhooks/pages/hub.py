"""The console's panel of a sub-account's failing endpoints and its last failed deliveries."""

from collections.abc import Iterator
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.registry import Alert
from webhooks.models import Delivery, Endpoint
from webhooks.pages.labels import concern_words
from webhooks.services import LogFilters, State, needing_attention, read_log
from webhooks.services.endpoints import MOST_ENDPOINTS
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.registry import (
    HubContent,
    HubPanel,
    HubRow,
    WorkspaceConcernSource,
    opened_as_customer,
)
from workspaces.subaccounts.services import tenant_of

MOST_NAMED: Final = 3


def _rows(workspace: Workspace, most: int) -> Iterator[HubRow]:
    """Yield the failed deliveries to the sub-account's own endpoints."""
    filters = LogFilters(tenant=tenant_of(workspace), status=Delivery.Status.ERROR)
    for delivery in read_log(filters, offset=0, size=most).rows:
        failure = delivery.error or (f"HTTP {delivery.response_status}" if delivery.response_status else "")
        label = _("Open delivery as customer")
        yield HubRow(
            title=delivery.event_name,
            detail=" · ".join(filter(None, [failure, delivery.endpoint.url])),
            at=delivery.completed_at,
            status_label=delivery.get_status_display(),
            tone="bad",
            actions=opened_as_customer(workspace, "app:webhook-delivery", delivery.uuid, label=label),
        )


def failures(workspace: Workspace, most: int) -> HubContent:
    return HubContent(
        rows=_rows(workspace, most),
        empty=_("No delivery to the sub-account's own webhooks has failed."),
        actions=opened_as_customer(workspace, "app:webhooks", label=_("Open Webhooks as customer")),
    )


def failing_endpoints(workspace: Workspace) -> Iterator[Alert]:
    open_ones = Endpoint.objects.filter(workspace_id=workspace.pk, enabled=True, removed_at=None).order_by("id")
    for endpoint, condition in needing_attention(open_ones.defer("secret")[:MOST_ENDPOINTS], MOST_NAMED):
        text = _("The last delivery to %(url)s failed.") % {"url": endpoint.url}
        words = text if condition.state == State.FAILING else concern_words(condition, endpoint.url)
        yield Alert(text=words, url="#webhooks", action=_("Failures"))


PANELS: Final = (
    HubPanel(name="webhooks", label=gettext_lazy("Webhook deliveries that failed"), order=40, content=failures),
)
CONCERNS: Final = (WorkspaceConcernSource(name="webhooks", order=30, concerns=failing_endpoints),)
