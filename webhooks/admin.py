"""The support admin's pages about webhooks, deliveries and their attempts: to be read, without any secret."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agency.admin.pages import RecordAdmin
from webhooks.models import Attempt, Delivery, Endpoint


@admin.register(Endpoint)
class EndpointAdmin(RecordAdmin):
    list_display = ("url", "agency", "enabled", "last_outcome", "last_delivery_at", "removed_at")
    list_select_related = ("agency",)
    fields = (
        "uuid",
        "agency",
        "url",
        "events",
        "description",
        "enabled",
        "last_outcome",
        "last_delivery_at",
        "created_at",
        "removed_at",
    )


@admin.register(Delivery)
class DeliveryAdmin(RecordAdmin):
    list_display = ("event_name", "uuid", "agency", "endpoint", "kind", "status", "response_status", "created_at")
    list_select_related = ("agency", "endpoint")
    fields = (
        "uuid",
        "agency",
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
        "envelope",
        "attempt_list",
    )
    readonly_fields = ("envelope", "attempt_list")

    def get_list_filter(self, request: HttpRequest) -> tuple[str, ...]:
        """Filter by status within an agency, where an index leads to the rows."""
        return ("status",) if "agency__id__exact" in request.GET else ()

    @admin.display
    def envelope(self, delivery: Delivery) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(json.loads(delivery.envelope), indent=2, ensure_ascii=False))

    @admin.display(description="attempts in full")
    def attempt_list(self, delivery: Delivery) -> SafeString:
        return format_html('<a href="../../../attempt/?delivery__id__exact={}">show</a>', delivery.pk)


@admin.register(Attempt)
class AttemptAdmin(RecordAdmin):
    list_display = ("started_at", "delivery_id", "number", "response_status", "error", "duration_ms", "remote_address")
    search_fields = ("delivery__uuid",)
    search_help_text = "A delivery's uuid."
    fields = (
        "delivery",
        "number",
        "started_at",
        "duration_ms",
        "dns_ms",
        "connect_ms",
        "tls_ms",
        "first_byte_ms",
        "remote_address",
        "request_headers",
        "response_status",
        "response_headers",
        "answer",
        "error",
    )
    readonly_fields = ("answer",)

    def search(self, queryset: "QuerySet[Any]", term: str) -> "QuerySet[Any]":
        deliveries = DeliveryAdmin(Delivery, self.admin_site).search(Delivery.objects.all(), term)
        return queryset.filter(delivery_id__in=deliveries.values("id"))

    @admin.display(description="answer's first 2 KiB")
    def answer(self, attempt: Attempt) -> SafeString:
        return format_html("<pre>{}</pre>", bytes(attempt.response_body or b"").decode(errors="replace"))
