"""The console's pages about webhooks, with bulk actions on deliveries and the export of their log."""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.urls import path, reverse
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _

from agency.console.base import ConsoleView
from agency.event_types import event_catalogue
from agency.models import Agency
from agency.pages.forms import ConfirmationForm
from agency.services.bulk import BulkAction, BulkCall, BulkTargets, IdBatch, Selection, TargetLabel, actions_on
from agency.services.exports import ExportSource, RowBatch
from agency.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.pages import deliveries, endpoints
from webhooks.pages.deliveries import ENDPOINT, LogForm
from webhooks.pages.forms import WebhookView, translated_labels
from webhooks.services.deliveries import DeliveryNotFound, redeliver
from webhooks.services.log import MOST_COUNTED, LogFilters, log_ids


def filters_of(selection: Selection) -> LogFilters | None:
    """Parse the log's filters. Return None if one is invalid or names an object outside the agency."""
    sent = QueryDict(selection.query)
    tenant, catalogue = Tenant(selection.agency.pk), event_catalogue(selection.agency)
    form = LogForm(
        sent, catalogue=catalogue, endpoints=Endpoint.objects.of_tenant(tenant), hides=(), now=selection.until
    )
    if not form.is_valid():
        return None
    found = form.filters
    before = min(found.get("created_before", selection.until), selection.until)
    return LogFilters(tenant=tenant, **{**found, "created_before": before})


def selected_ids(selection: Selection) -> list[int]:
    """Return the selected deliveries' primary keys, newest first, at most `MOST_COUNTED` by filters."""
    if selection.picked is not None:
        own = Delivery.objects.of(selection.agency)
        found = (own.with_uuid(uuid) for uuid in selection.picked)
        return [delivery.pk for delivery in found if delivery]
    filters = filters_of(selection)
    return log_ids(filters, offset=0, size=MOST_COUNTED)[0] if filters else []


def count(selection: Selection) -> int:
    if selection.picked is not None:
        return len(selected_ids(selection))
    filters = filters_of(selection)
    return log_ids(filters, offset=0, size=0)[1] if filters else 0


def walk(selection: Selection, cursor: int | None, size: int) -> IdBatch:
    """Return all at once, because the log changes meanwhile: a delivery that is pending now ends a moment later."""
    return IdBatch(selected_ids(selection), None)


def shown(agency: Agency, ids: Collection[int]) -> Mapping[int, TargetLabel]:
    rows = Delivery.objects.of(agency).filter(pk__in=ids).values_list("pk", "event_name", "endpoint__url", "uuid")
    return {
        pk: TargetLabel(f"{event} → {url}", reverse("console:webhook-delivery", args=[uuid]))
        for pk, event, url, uuid in rows
    }


TARGETS: Final = BulkTargets(
    name="deliveries",
    label=_("Deliveries"),
    url_name="console:webhooks",
    most=MOST_COUNTED,
    count=count,
    walk=walk,
    shown=shown,
)


def _redeliver(call: BulkCall) -> bool:
    own = Delivery.objects.of(call.agency).select_related("endpoint", "event")
    delivery = own.filter(pk=call.target_id).first()
    if delivery is None:
        raise DeliveryNotFound
    redeliver(delivery=delivery, now=call.now, by=call.by)
    return True


ACTIONS: Final = (
    BulkAction(
        name="deliveries.redeliver",
        targets=TARGETS,
        label=_("Redeliver"),
        text=_("Each event is sent once more with the same ID to the same webhook."),
        apply=_redeliver,
        make_form=lambda _agency, data: ConfirmationForm(data),
    ),
)


COLUMNS: Final = (
    "uuid",
    "event",
    "envelope_id",
    "webhook",
    "sub_account_uuid",
    "kind",
    "status",
    "attempts",
    "response_status",
    "error",
    "created_at",
    "completed_at",
)
# The columns whose names differ from their fields.
FIELDS: Final = {"event": "event_name", "webhook": "endpoint__url", "sub_account_uuid": "workspace_uuid"}
CONDITIONS: Final = {
    "endpoint": "endpoint",
    "status": "status",
    "event": "event_name",
    "envelope_id": "envelope_id",
    "workspace": "workspace_uuid",
    "created_after": "created_at__gte",
    "created_before": "created_at__lt",
}


def _read(selection: Selection, cursor: int | None, size: int) -> RowBatch:
    """Read the next `size` deliveries and return the matching ones, so that each part costs the same."""
    filters = filters_of(selection)
    ids = _next_ids(selection, cursor, size)
    if filters is None or not ids:
        return RowBatch([], None)
    matching = _matching(filters, Delivery.objects.filter(pk__in=ids))
    fields = [FIELDS.get(column, column) for column in COLUMNS]
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in matching.order_by("-pk").values_list(*fields)]
    return RowBatch(rows, ids[-1] if len(ids) == size else None)


def _next_ids(selection: Selection, cursor: int | None, size: int) -> list[int]:
    """Return the next ids of the agency's own deliveries from their index (see `services.log` on range and order)."""
    agency = selection.agency.pk
    own = Delivery.objects.filter(agency__gte=agency, agency__lte=agency, workspace_id=None)
    own = own.filter(pk__lt=cursor) if cursor else own
    return list(own.order_by("agency_id", "-pk").values_list("pk", flat=True)[:size])


def _matching(filters: LogFilters, rows: "QuerySet[Delivery]") -> "QuerySet[Delivery]":
    asked = {CONDITIONS[name]: value for name in CONDITIONS if (value := getattr(filters, name)) is not None}
    return rows.filter(**asked)


DELIVERIES: Final = ExportSource(
    name="deliveries", label=_("Deliveries"), url_name="console:webhooks", columns=COLUMNS, read=_read
)


FORM = "pages/console/form.html"


class OfAgency(WebhookView, ConsoleView):
    """The agency's own endpoints, none of its workspaces'."""

    area = "console"
    nav = "console:webhooks"
    lead = gettext_lazy("Signed messages to your own systems whenever something happens to a sub-account.")

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.agency.pk)

    @cached_property
    def catalogue(self) -> Mapping[str, str]:
        return translated_labels(event_catalogue(self.agency))

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        if "table" in context and self.may_write:
            context |= {"bulk_actions": actions_on("deliveries"), "log_query": self._log_query(context.get("endpoint"))}
        return super().page(template, status=status, **context)

    def _log_query(self, endpoint: Endpoint | None) -> str:
        """Give the log's filters with the endpoint whose page this is, as what is chosen there is found again."""
        sent = self.request.GET.copy()
        if endpoint:
            sent[ENDPOINT] = str(endpoint.uuid)
        return sent.urlencode()


class Webhooks(endpoints.Webhooks, OfAgency):
    pass


class WebhookPage(endpoints.WebhookPage, OfAgency):
    pass


class WebhookNew(endpoints.WebhookNew, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookEdit(endpoints.WebhookEdit, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookRotate(endpoints.WebhookRotate, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookRemove(endpoints.WebhookRemove, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookDismiss(endpoints.WebhookDismiss, OfAgency):
    template_name = FORM
    writers_only = True


class DeliveryPage(deliveries.DeliveryPage, OfAgency):
    pass


class WebhookTest(deliveries.WebhookTest, OfAgency):
    form_page = "console:webhook"


class DeliveryRedeliver(deliveries.DeliveryRedeliver, OfAgency):
    form_page = "console:webhook-delivery"


class RedeliverFailed(deliveries.RedeliverFailed, OfAgency):
    writers_only = True


class Redelivery(deliveries.Redelivery, OfAgency):
    pass


urlpatterns = [
    path("webhooks", Webhooks.as_view(), name="webhooks"),
    path("webhooks/new", WebhookNew.as_view(), name="webhook-new"),
    path("webhooks/redeliver-failed", RedeliverFailed.as_view(), name="webhook-redeliver-failed"),
    path("webhooks/redeliveries/<str:token>", Redelivery.as_view(), name="webhook-redelivery"),
    path("webhooks/deliveries/<id:uuid>", DeliveryPage.as_view(), name="webhook-delivery"),
    path("webhooks/deliveries/<id:uuid>/redeliver", DeliveryRedeliver.as_view(), name="webhook-redeliver"),
    path("webhooks/<id:uuid>", WebhookPage.as_view(), name="webhook"),
    path("webhooks/<id:uuid>/edit", WebhookEdit.as_view(), name="webhook-edit"),
    path("webhooks/<id:uuid>/rotate", WebhookRotate.as_view(), name="webhook-rotate"),
    path("webhooks/<id:uuid>/remove", WebhookRemove.as_view(), name="webhook-remove"),
    path("webhooks/<id:uuid>/dismiss", WebhookDismiss.as_view(), name="webhook-dismiss"),
    path("webhooks/<id:uuid>/test", WebhookTest.as_view(), name="webhook-test"),
]
