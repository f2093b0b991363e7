"""Read-only pages of the support admin about contacts, segments and tasks."""

from django.contrib import admin
from django.db.models import QuerySet

from agency.admin.base import ReadOnlyAdmin, by_uuid
from workspaces.contacts.models import Contact, Segment, Task
from workspaces.subaccounts.admin import of_workspace


@admin.register(Contact)
class ContactAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "country", "opted_out_at", "created_at", "uuid")
    list_select_related = ("workspace",)
    search_help_text = "The contact's uuid, or its sub-account's."
    fields = (
        "uuid",
        "workspace",
        "name",
        "phone",
        "email",
        "country",
        "timezone",
        "tags",
        "attributes",
        "opted_out_at",
        "opt_out_source",
        "consent_told_at",
        "marketing_opted_out_at",
        "marketing_told_at",
        "last_inbound_at",
        "created_at",
        "updated_at",
    )

    def search(self, queryset: "QuerySet[Contact]", term: str) -> "QuerySet[Contact]":
        return by_uuid(queryset, term) | of_workspace(queryset, term)


@admin.register(Segment)
class SegmentAdmin(ReadOnlyAdmin):
    list_display = ("name", "workspace", "created_at")
    list_select_related = ("workspace",)
    search_help_text = "The segment's uuid, or its sub-account's."
    fields = ("uuid", "workspace", "name", "filter", "created_at", "updated_at")

    def search(self, queryset: "QuerySet[Segment]", term: str) -> "QuerySet[Segment]":
        return by_uuid(queryset, term) | of_workspace(queryset, term)


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "status", "due_at", "created_at", "uuid")
    list_select_related = ("workspace",)
    search_help_text = "The task's uuid, or its sub-account's."
    fields = (
        "uuid",
        "workspace",
        "contact",
        "title",
        "due_at",
        "assigned_to",
        "status",
        "done_at",
        "done_by_label",
        "created_by_kind",
        "created_by_label",
        "created_at",
    )

    def search(self, queryset: "QuerySet[Task]", term: str) -> "QuerySet[Task]":
        return by_uuid(queryset, term) | of_workspace(queryset, term)
