"""Admin of recorded events."""

import json
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agency.admin.filters import LARGEST_ID, AgencyFilter, DayFilter, FilteredRecordAdmin
from agency.models import Event
from config.retention import first_id_since

WAITING, FANNED_OUT = "waiting", "fanned out"


class EventStatusFilter(admin.SimpleListFilter):
    title = parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(WAITING, "Waiting"), (FANNED_OUT, "Fanned out")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(fanned_out_at__isnull=self.value() == WAITING) if self.value() else queryset


class EventDayFilter(DayFilter):
    def of_day(self, queryset: Any, day: date) -> Any:
        """Return a day's events by a range of ids, which rise with time, give or take a minute of transaction."""
        start = datetime.combine(day, time(), UTC)
        ends = (start - timedelta(minutes=1), start + timedelta(days=1, minutes=1))
        first, end = (
            first_id_since(moment, table="agency_event", column="occurred_at", first=0, end=LARGEST_ID)
            for moment in ends
        )
        numbered = queryset.filter(pk__gte=first, pk__lt=end)
        return numbered.filter(occurred_at__gte=start, occurred_at__lt=start + timedelta(days=1))


@admin.register(Event)
class EventAdmin(FilteredRecordAdmin):
    list_display = ("name", "status", "uuid", "agency", "occurred_at", "fanned_out_at")
    list_select_related = ("agency",)
    list_filter = (AgencyFilter, EventStatusFilter, EventDayFilter)
    fields = (
        "uuid",
        "agency",
        "workspace_id",
        "name",
        "workspace_uuid",
        "occurred_at",
        "status",
        "fanned_out_at",
        "envelope",
    )
    readonly_fields = ("status", "envelope")

    @admin.display
    def status(self, event: Event) -> str:
        return FANNED_OUT if event.fanned_out_at else WAITING

    @admin.display
    def envelope(self, event: Event) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(json.loads(bytes(event.body)), indent=2, ensure_ascii=False))
