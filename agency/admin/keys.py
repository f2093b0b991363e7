"""Agency keys: who made them and when they were used; never more of a key than its beginning."""

from django.contrib import admin

from agency.admin.base import RecordAdmin
from agency.models import AgencyKey


@admin.register(AgencyKey)
class AgencyKeyAdmin(RecordAdmin):
    list_display = ("name", "prefix", "agency", "can_copy", "last_used_at", "revoked_at")
    list_select_related = ("agency",)
    fields = (
        "uuid",
        "agency",
        "name",
        "prefix",
        "can_copy",
        "created_by",
        "created_at",
        "last_used_at",
        "revoked_at",
    )
