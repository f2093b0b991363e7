"""Read-only pages of the support admin about group classes."""

from django.contrib import admin
from django.db.models import Model, QuerySet

from agency.admin.base import ReadOnlyAdmin, by_uuid
from config.api.requests import parse_uuid
from workspaces.classes.models import ClassSeries, ClassSession, Participant, WaitingListEntry

SEARCH = "A uuid, or its sub-account's."


class WorkspaceRecordAdmin(ReadOnlyAdmin):
    search_help_text = SEARCH

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        of_workspace = queryset.filter(workspace__uuid=found) if found else queryset.none()
        return by_uuid(queryset, term) | of_workspace


@admin.register(ClassSession)
class ClassSessionAdmin(WorkspaceRecordAdmin):
    list_display = ("service", "starts_at", "status", "participants_count", "capacity", "workspace")
    list_select_related = ("service", "workspace")
    fields = (
        "uuid",
        "workspace",
        "service",
        "staff",
        "starts_at",
        "ends_at",
        "capacity",
        "participants_count",
        "status",
        "created_at",
    )


@admin.register(Participant)
class ParticipantAdmin(ReadOnlyAdmin):
    list_display = ("contact", "session", "created_at")
    list_select_related = ("contact", "session__service")
    search_fields = ("session__uuid",)
    search_help_text = "A class's uuid."
    fields = ("session", "contact", "created_at")

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        return queryset.filter(session__uuid=found) if found else queryset.none()


@admin.register(ClassSeries)
class ClassSeriesAdmin(WorkspaceRecordAdmin):
    list_display = ("service", "first_date", "unit", "interval", "made_through", "due_at", "ended_at", "workspace")
    list_select_related = ("service", "workspace")
    fields = (
        "uuid",
        "workspace",
        "service",
        "staff",
        "first_date",
        "start_time",
        "timezone",
        "duration_minutes",
        "capacity",
        "interval",
        "unit",
        "weekdays",
        "until",
        "count",
        "made_through",
        "due_at",
        "created_at",
        "ended_at",
    )


@admin.register(WaitingListEntry)
class WaitingListEntryAdmin(ParticipantAdmin):
    pass
