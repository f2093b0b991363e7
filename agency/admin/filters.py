"""Filters for the support admin's lists of records, which may hold millions; each filter uses an index."""

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from agency.admin.base import RecordAdmin
from agency.models import Agency

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin

MOST_AGENCIES = 100
DAYS = 31
LARGEST_ID = 2**63 - 1


class AgencyFilter(admin.SimpleListFilter):
    """Filters by agency. The list offers the first hundred by name; every agency's own page links to its rows."""

    title = "agency"
    parameter_name = "agency__id__exact"

    def lookups(self, request: HttpRequest, model_admin: _ModelAdmin) -> list[tuple[str, str]]:
        agencies = Agency.objects.order_by("name_key").only("pk", "name")
        offered = list(agencies[:MOST_AGENCIES])
        chosen = self._number()
        if chosen is not None and chosen not in {agency.pk for agency in offered}:
            offered += agencies.filter(pk=chosen)
        return [(str(agency.pk), agency.name) for agency in offered]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """Filter by a range; with an equality the planner could walk through all newer rows of other agencies."""
        if self.value() is None:
            return queryset
        number = self._number()
        return queryset.none() if number is None else queryset.filter(agency_id__gte=number, agency_id__lte=number)

    def _number(self) -> int | None:
        value = self.value() or ""
        return min(int(value), LARGEST_ID) if value.isascii() and value.isdigit() and len(value) < 30 else None


class DayFilter(admin.SimpleListFilter):
    """Filters by one day in UTC."""

    title = "day (UTC)"
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: _ModelAdmin) -> list[tuple[str, str]]:
        today = timezone.now().date()
        days = [(today - timedelta(days=ago)).isoformat() for ago in range(DAYS)]
        return [(day, day) for day in days]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        if self.value() is None:
            return queryset
        if self.value() not in {day for day, _ in self.lookup_choices}:
            return queryset.none()
        return self.of_day(queryset, date.fromisoformat(self.value() or ""))

    def of_day(self, queryset: "QuerySet[Any]", day: date) -> "QuerySet[Any]":
        """Return the rows of a day. Each list overrides this."""
        raise NotImplementedError


class FilteredRecordAdmin(RecordAdmin):
    """Records with an agency; when one agency is chosen, the order follows the index of its rows."""

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("agency_id", "-pk") if AgencyFilter.parameter_name in request.GET else ("-pk",)
