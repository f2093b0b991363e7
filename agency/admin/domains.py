"""Admin of agencies' domains: support sees what the DNS says, and removes domains that must not be served."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from agency.admin.base import ChangingAdmin, staff_actor
from agency.models import Domain
from agency.services.domains.claims import remove_domain


@admin.register(Domain)
class DomainAdmin(ChangingAdmin):
    list_display = ("host", "state", "is_primary", "agency", "finding", "points_here", "checked_at", "failing_since")
    list_select_related = ("agency",)
    list_filter = ("state", "finding")
    search_fields = ("host",)
    search_help_text = "The beginning of a host."
    fields = readonly_fields = (
        "uuid",
        "agency",
        "host",
        "state",
        "is_primary",
        "verified_at",
        "finding",
        "found_texts",
        "found_addresses",
        "points_here",
        "checked_at",
        "next_check_at",
        "failing_since",
        "created_at",
    )

    def search(self, queryset: "QuerySet[Domain]", term: str) -> "QuerySet[Domain]":
        return queryset.filter(host__startswith=term.lower())

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request)

    def name_to_type(self, obj: Any) -> str:
        return str(obj.host) if obj else ""

    def delete_model(self, request: HttpRequest, obj: Domain) -> None:
        remove_domain(domain=obj, by=staff_actor(request))
