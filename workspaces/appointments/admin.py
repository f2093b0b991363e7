"""Read-only pages of the support admin about appointments, holds and working hours."""

from django.contrib import admin
from django.db.models import Model, QuerySet

from agency.admin.base import ReadOnlyAdmin, by_uuid
from config.api.requests import parse_uuid
from workspaces.appointments.models import Appointment, CalendarFeed, Hold, TimeOff, WorkingHours

SEARCH = "A uuid, or its sub-account's."


class WorkspaceRecordAdmin(ReadOnlyAdmin):
    search_help_text = SEARCH

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        of_workspace = queryset.filter(workspace__uuid=found) if found else queryset.none()
        return by_uuid(queryset, term) | of_workspace


@admin.register(Appointment)
class AppointmentAdmin(WorkspaceRecordAdmin):
    list_display = ("service", "staff", "starts_at", "status", "workspace")
    list_select_related = ("service", "staff", "workspace")
    fields = (
        "uuid",
        "workspace",
        "contact",
        "service",
        "staff",
        "starts_at",
        "ends_at",
        "status",
        "source",
        "timezone",
        "price",
        "currency",
        "calendar_sequence",
        "created_at",
        "updated_at",
        "cancelled_at",
    )


@admin.register(Hold)
class HoldAdmin(WorkspaceRecordAdmin):
    list_display = ("service", "staff", "starts_at", "expires_at", "ended_at", "workspace")
    list_select_related = ("service", "staff", "workspace")
    fields = (
        "uuid",
        "workspace",
        "contact",
        "service",
        "staff",
        "starts_at",
        "ends_at",
        "invoice",
        "appointment",
        "expires_at",
        "ended_at",
        "created_at",
    )


@admin.register(CalendarFeed)
class CalendarFeedAdmin(WorkspaceRecordAdmin):
    list_display = ("staff", "created_at", "last_fetched_at", "workspace")
    list_select_related = ("staff", "workspace")
    fields = ("uuid", "workspace", "staff", "created_at", "last_fetched_at")


class StaffRecordAdmin(ReadOnlyAdmin):
    search_fields = ("staff__uuid",)
    search_help_text = "A staff member's uuid, or the sub-account's."

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        if not found:
            return queryset.none()
        return queryset.filter(staff__uuid=found) | queryset.filter(staff__workspace__uuid=found)


@admin.register(WorkingHours)
class WorkingHoursAdmin(StaffRecordAdmin):
    list_display = ("staff", "timezone", "updated_at")
    list_select_related = ("staff",)
    fields = ("staff", "timezone", "weekly", "updated_at")


@admin.register(TimeOff)
class TimeOffAdmin(StaffRecordAdmin):
    list_display = ("staff", "starts_at", "ends_at")
    list_select_related = ("staff",)
    fields = ("uuid", "staff", "starts_at", "ends_at", "created_at")
