"""Events as they were recorded."""

import json

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agency.admin.base import RecordAdmin
from agency.models import Event


@admin.register(Event)
class EventAdmin(RecordAdmin):
    list_display = ("name", "uuid", "agency", "occurred_at", "fanned_out_at")
    list_select_related = ("agency",)
    fields = ("uuid", "agency", "name", "workspace_uuid", "occurred_at", "fanned_out_at", "envelope")
    readonly_fields = ("envelope",)

    @admin.display
    def envelope(self, event: Event) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(json.loads(bytes(event.body)), indent=2, ensure_ascii=False))
