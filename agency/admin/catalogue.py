"""What agencies sell."""

from django.contrib import admin

from agency.admin.base import RecordAdmin
from agency.models import Addon, Plan


@admin.register(Plan, Addon)
class CatalogueAdmin(RecordAdmin):
    list_display = ("name", "agency", "archived_at", "created_at")
    list_select_related = ("agency",)
    fields = ("uuid", "agency", "name", "description", "limits", "archived_at", "created_at")
