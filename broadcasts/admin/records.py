"""The support admin's read-only page about broadcasts; it leaves out their messages."""

from typing import Any

from django.contrib import admin

from agency.admin.base import RecordAdmin, by_uuid
from broadcasts.models import Broadcast
from workspaces.subaccounts.admin import of_workspace


@admin.register(Broadcast)
class BroadcastAdmin(RecordAdmin):
    list_display = ("uuid", "name", "workspace", "channel", "status", "recipients_count", "created_at")
    list_select_related = ("workspace", "channel")
    list_filter = ("status", "type")
    search_help_text = "The broadcast's uuid, or its sub-account's."
    fields = (
        "uuid",
        "workspace",
        "channel",
        "name",
        "type",
        "status",
        "paused_reason",
        "audience",
        "segment",
        "source_broadcast",
        "retarget_engagement",
        "timezone_mode",
        "scheduled_at",
        "scheduled_local_at",
        "due_at",
        "requires_approval",
        "approved_at",
        "created_by_kind",
        "created_at",
        "updated_at",
        "started_at",
        "completed_at",
        "is_prepared",
        "broke_off_at",
        "next_due_at",
        "recipients_count",
    )

    def search(self, queryset: Any, term: str) -> Any:
        return by_uuid(queryset, term) | of_workspace(queryset, term)
