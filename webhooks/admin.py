"""Read-only pages of the support admin about webhooks, deliveries and attempts, without secrets."""

import json
from datetime import date
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agency.admin.base import MOST_ROWS, AgencyFilter, DayFilter, FilteredRecordAdmin, ReadOnlyAdmin, staff_actor
from agency.pages.pagination import Row
from config.errors import DomainError
from webhooks.models import Attempt, Delivery, Endpoint, QueuedDelivery
from webhooks.models.partitions import A_DAY, first_id
from webhooks.pages.deliveries import state_label
from webhooks.pages.panels import OWN, owners_of
from webhooks.services.deliveries import redeliver
from webhooks.services.endpoint_health import health_of
from workspaces.subaccounts.models import Workspace


def sub_account_link(pk: int | None) -> str:
    """Return a sub-account's name as a link to its page; a dash for what belongs to the agency itself."""
    found = Workspace.objects.filter(pk=pk).values_list("name", flat=True).first() if pk else None
    if found is None:
        return "-"
    return format_html('<a href="{}">{}</a>', reverse("admin:subaccounts_workspace_change", args=[pk]), found)


class EndpointList(ChangeList):
    """A page of endpoints that looks up the states of all its rows at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        conditions, owners = health_of(rows), owners_of(rows)
        for row in rows:
            row.condition = conditions[row.pk]
            row.owner_name = owners.get(row.workspace_id or 0, OWN)
        self.result_list = rows


@admin.register(Endpoint)
class EndpointAdmin(ReadOnlyAdmin):
    list_display = ("url", "agency", "whose", "state", "last_delivery_at", "removed_at")
    list_select_related = ("agency",)
    fields = (
        "uuid",
        "agency",
        "sub_account",
        "url",
        "events",
        "description",
        "enabled",
        "state",
        "last_outcome",
        "last_delivery_at",
        "failing_since",
        "failures_dismissed_at",
        "created_at",
        "removed_at",
    )
    readonly_fields = ("state", "sub_account")

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        return EndpointList

    @admin.display
    def whose(self, endpoint: Endpoint) -> str:
        return str(getattr(endpoint, "owner_name", ""))

    @admin.display(description="sub-account")
    def sub_account(self, endpoint: Endpoint) -> str:
        return sub_account_link(endpoint.workspace_id)

    @admin.display
    def state(self, endpoint: Endpoint) -> str:
        condition = getattr(endpoint, "condition", None) or health_of([endpoint])[endpoint.pk]
        return state_label(condition)


class StatusFilter(admin.SimpleListFilter):
    title = parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, Any]]:
        return Delivery.Status.choices

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Delivery]") -> "QuerySet[Delivery]":
        """Keep one status. Pending rows are found by the queue, failed ones by a partial index."""
        if self.value() == Delivery.Status.PENDING:
            waiting = QueuedDelivery.objects.order_by("-pk").values_list("pk", flat=True)
            agency = request.GET.get(AgencyFilter.parameter_name, "")
            of_agency = waiting.filter(agency_id=agency) if agency.isdecimal() and len(agency) < 19 else waiting
            return queryset.filter(pk__in=list(of_agency[:MOST_ROWS]), status=self.value())
        if self.value() == Delivery.Status.ERROR:
            return queryset.filter(failed_at__isnull=False)
        return queryset.filter(status=self.value()) if self.value() else queryset


class DeliveryDayFilter(DayFilter):
    def of_day(self, queryset: "QuerySet[Row]", day: date) -> "QuerySet[Row]":
        """Keep one day's partition, by the range of its primary keys."""
        return queryset.filter(pk__gte=first_id(day), pk__lt=first_id(day + A_DAY))


@admin.register(Delivery)
class DeliveryAdmin(FilteredRecordAdmin):
    list_display = ("event_name", "uuid", "agency", "endpoint", "kind", "status", "response_status", "created_at")
    list_select_related = ("agency", "endpoint")
    list_filter = (AgencyFilter, StatusFilter, DeliveryDayFilter)
    fields = (
        "uuid",
        "agency",
        "sub_account",
        "endpoint",
        "event_name",
        "envelope_id",
        "kind",
        "status",
        "attempts",
        "max_attempts",
        "response_status",
        "error",
        "created_at",
        "next_attempt_at",
        "completed_at",
        "sent",
        "attempts_made",
    )
    readonly_fields = ("sub_account", "next_attempt_at", "sent", "attempts_made")
    change_form_template = "admin/webhooks/delivery/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        redeliver_view = self.admin_site.admin_view(self.redeliver_view)
        return [path("<int:pk>/redeliver/", redeliver_view, name="webhooks_delivery_redeliver"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        context = {"may_redeliver": may_redeliver(request), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def redeliver_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send a failed delivery's envelope again, as the agency itself can."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not may_redeliver(request):
            raise PermissionDenied
        delivery: Delivery | None = self.get_object(request, str(pk))
        if delivery is None or delivery.status != Delivery.Status.ERROR:
            raise Http404
        try:
            again = redeliver(delivery=delivery, now=timezone.now(), by=staff_actor(request))
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return self.back_to(request, delivery)
        self.log_change(request, delivery, "Redelivered.")
        self.message_user(request, "The event is delivered again. This is the new delivery.")
        return self.back_to(request, again)

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Delivery]":
        """If filtered by an agency, show its own deliveries without those of its workspaces."""
        found = super().get_queryset(request)
        return found.filter(workspace_id=None) if AgencyFilter.parameter_name in request.GET else found

    @admin.display(description="sub-account")
    def sub_account(self, delivery: Delivery) -> str:
        return sub_account_link(delivery.workspace_id)

    @admin.display(description="envelope as sent")
    def sent(self, delivery: Delivery) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(json.loads(delivery.envelope), indent=2, ensure_ascii=False))

    @admin.display(description="attempts in full")
    def attempts_made(self, delivery: Delivery) -> str:
        attempts = delivery.attempt_log.order_by("number")
        return format_html_join("", "<pre>{}</pre>", ((attempt_text(attempt),) for attempt in attempts)) or "none yet"


def may_redeliver(request: HttpRequest) -> bool:
    """Redelivering is the only action on deliveries. It requires the permission to change them."""
    return bool(request.user.has_perm("webhooks.change_delivery"))


def attempt_text(attempt: Attempt) -> str:
    """Describe an attempt in a few lines: its outcome, the time of each part, the first 2 KiB of the answer."""
    outcome = attempt.error or f"HTTP {attempt.response_status}"
    spans = ("dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "duration_ms")
    times = ", ".join(f"{name[:-3]} {value:.1f}" for name in spans if (value := getattr(attempt, name)) is not None)
    answer = bytes(attempt.response_body or b"").decode(errors="replace")
    lines = (
        f"{attempt.number}. {attempt.started_at:%Y-%m-%d %H:%M:%S} UTC  {outcome}",
        f"address {attempt.remote_address or '-'}; milliseconds: {times}",
        attempt.response_headers or "",
        answer,
    )
    return "\n".join(line for line in lines if line)
