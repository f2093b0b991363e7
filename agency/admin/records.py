"""Admin of records that support may only read: plans and add-ons, keys, the activity log, begun work."""

from typing import Any

from django.contrib import admin
from django.template.loader import render_to_string

from agency.admin.base import RecordAdmin
from agency.models import ActivityEntry, Addon, AgencyKey, Plan
from agency.pages.activity.changes import changes_of
from config.api.requests import parse_uuid
from config.tries.models import BegunWork


@admin.register(Plan, Addon)
class CatalogueAdmin(RecordAdmin):
    list_display = ("name", "status", "agency", "created_at")
    list_select_related = ("agency",)
    fields = ("uuid", "agency", "name", "description", "limits", "archived_at", "created_at")

    @admin.display
    def status(self, item: Plan | Addon) -> str:
        return "Archived" if item.archived_at else "Live"


@admin.register(AgencyKey)
class AgencyKeyAdmin(RecordAdmin):
    list_display = ("name", "status", "prefix", "agency", "can_copy", "can_make_keys", "last_used_at")
    list_select_related = ("agency",)
    fields = (
        "uuid",
        "agency",
        "name",
        "prefix",
        "can_copy",
        "can_make_keys",
        "allowed_networks",
        "created_by",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )

    @admin.display
    def status(self, key: AgencyKey) -> str:
        return key.state.capitalize()


@admin.register(ActivityEntry)
class ActivityAdmin(RecordAdmin):
    list_display = ("at", "agency", "actor_kind", "actor_label", "action", "target_name")
    list_select_related = ("agency",)
    search_fields = ("workspace_uuid",)
    search_help_text = "A sub-account's uuid."
    fields = (
        "at",
        "agency",
        "workspace_uuid",
        "actor_kind",
        "actor_id",
        "actor_label",
        "acting_for",
        "of_workspace",
        "action",
        "target_kind",
        "target_id",
        "target_name",
        "address",
        "request_id",
        "details",
        "before_and_after",
    )
    readonly_fields = ("before_and_after",)

    @admin.display(description="Before and after")
    def before_and_after(self, entry: ActivityEntry) -> str:
        return render_to_string("agency/activity/_changes_table.html", {"changes": changes_of(entry)}) or "—"

    def search(self, queryset: Any, term: str) -> Any:
        found = parse_uuid(term)
        return queryset.filter(workspace_uuid=found) if found else queryset.none()


@admin.register(BegunWork)
class BegunWorkAdmin(RecordAdmin):
    """Work that is under way, that died, or that was set aside as it killed its process again and again."""

    list_display = ("kind", "key", "tries", "begun_at", "set_aside_at")
    fields = list_display
    search_fields = ("kind",)
    search_help_text = "A kind of work, as the list has it."

    def search(self, queryset: Any, term: str) -> Any:
        return queryset.filter(kind=term)
