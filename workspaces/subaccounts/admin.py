"""The support admin's pages about sub-accounts: to be read."""

from typing import Any

from django.contrib import admin

from agency.admin.base import RecordAdmin, by_uuid
from config.api.requests.ids import parse_uuid
from workspaces.subaccounts.models import Channel, HeldAddon, Workspace, WorkspaceKey


@admin.register(Workspace)
class WorkspaceAdmin(RecordAdmin):
    list_display = ("name", "status", "agency", "plan", "owner_email", "created_at", "uuid")
    list_select_related = ("agency", "plan")
    search_fields = ("name",)
    search_help_text = "A part of a name or of its owner's name or e-mail, three letters or more, or a uuid."
    fields = (
        "uuid",
        "agency",
        "name",
        "status",
        "suspended_at",
        "suspension_reason",
        "plan",
        "limits",
        "owner",
        "owner_name",
        "owner_email",
        "business_type",
        "timezone",
        "external_id",
        "metadata",
        "created_at",
    )

    def search(self, queryset: Any, term: str) -> Any:
        return by_uuid(queryset, term) if parse_uuid(term) else queryset.matching(term)


@admin.register(HeldAddon)
class HeldAddonAdmin(RecordAdmin):
    list_display = ("addon", "workspace", "granted_at")
    list_select_related = ("addon", "workspace")
    search_fields = ("workspace__uuid",)
    search_help_text = "A sub-account's uuid."
    fields = ("workspace", "addon", "limits", "granted_at")

    def search(self, queryset: Any, term: str) -> Any:
        return of_workspace(queryset, term)


@admin.register(Channel)
class ChannelAdmin(RecordAdmin):
    list_display = ("name", "status", "platform", "handle", "workspace", "connected_at")
    list_select_related = ("workspace",)
    search_help_text = "The channel's uuid, or its sub-account's."
    fields = ("uuid", "workspace", "platform", "external_id", "name", "handle", "status", "connected_at")

    def search(self, queryset: Any, term: str) -> Any:
        return by_uuid(queryset, term) | of_workspace(queryset, term)


@admin.register(WorkspaceKey)
class WorkspaceKeyAdmin(RecordAdmin):
    list_display = ("name", "status", "prefix", "workspace", "last_used_at")
    list_select_related = ("workspace",)
    search_help_text = "The key's uuid, or its sub-account's."
    fields = ("uuid", "workspace", "name", "prefix", "created_by", "created_at", "last_used_at", "revoked_at")

    @admin.display
    def status(self, key: WorkspaceKey) -> str:
        return "Revoked" if key.revoked_at else "Live"

    def search(self, queryset: Any, term: str) -> Any:
        return by_uuid(queryset, term) | of_workspace(queryset, term)


def of_workspace(queryset: Any, term: str) -> Any:
    found = parse_uuid(term)
    return queryset.filter(workspace__uuid=found) if found else queryset.none()
