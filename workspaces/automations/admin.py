"""Read-only pages of the support admin about automations' runs and facts, without answers and texts."""

from django.contrib import admin
from django.db.models import QuerySet

from agency.admin.base import ReadOnlyAdmin, by_uuid
from workspaces.automations.models import AutomationRun, TriggerEvent


@admin.register(AutomationRun)
class AutomationRunAdmin(ReadOnlyAdmin):
    list_display = ("automation", "status", "workspace", "error_code", "started_at", "ended_at", "uuid")
    list_select_related = ("automation", "workspace")
    search_help_text = "The run's uuid."
    fields = (
        "uuid",
        "workspace",
        "automation",
        "version",
        "status",
        "node",
        "seq",
        "messages",
        "wait_kind",
        "wait_until",
        "depth",
        "started_by_kind",
        "started_at",
        "ended_at",
        "error_code",
        "error_node",
        "error_message",
    )

    def search(self, queryset: "QuerySet[AutomationRun]", term: str) -> "QuerySet[AutomationRun]":
        found: QuerySet[AutomationRun] = by_uuid(queryset, term)
        return found


@admin.register(TriggerEvent)
class TriggerEventAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "contact_id", "outcome", "reason", "created_at")
    search_fields = ("message_id",)
    search_help_text = "The number of a message."
    fields = (
        "kind",
        "source_key",
        "workspace_id",
        "contact_id",
        "channel_id",
        "conversation_id",
        "message_id",
        "depth",
        "cause",
        "outcome",
        "reason",
        "automation_id",
        "run_id",
        "created_at",
    )

    def search(self, queryset: "QuerySet[TriggerEvent]", term: str) -> "QuerySet[TriggerEvent]":
        if not term.isascii() or not term.isdigit() or len(term) > 18:
            return queryset.none()
        return queryset.filter(message_id=int(term))
