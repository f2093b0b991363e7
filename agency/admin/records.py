"""Admin of records that support may only read: plans, keys, activity, jobs; and the fleet-wide switches."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse

from agency.admin.base import ReadOnlyAdmin, RowForm, WritableAdmin, copy_model_fields, staff_actor
from agency.models import ActivityEntry, Addon, AgencyKey, Plan, Switch
from agency.pages.activity import changes_of
from agency.services import set_switch
from config.api.requests import parse_uuid
from config.tries.models import BegunWork


@admin.register(Plan, Addon)
class CatalogueAdmin(ReadOnlyAdmin):
    list_display = ("name", "status", "agency", "created_at")
    list_select_related = ("agency",)
    fields = ("uuid", "agency", "name", "description", "limits", "archived_at", "created_at")

    @admin.display
    def status(self, item: Plan | Addon) -> str:
        return "Archived" if item.archived_at else "Live"


@admin.register(AgencyKey)
class AgencyKeyAdmin(ReadOnlyAdmin):
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
class ActivityAdmin(ReadOnlyAdmin):
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
class BegunWorkAdmin(ReadOnlyAdmin):
    """Work that is under way, that died, or that was set aside as it killed its process again and again."""

    list_display = ("kind", "key", "tries", "begun_at", "set_aside_at")
    fields = list_display
    search_fields = ("kind",)
    search_help_text = "A kind of work, as the list has it."

    def search(self, queryset: Any, term: str) -> Any:
        return queryset.filter(kind=term)


class SwitchForm(RowForm):
    """Asks for a new reason at each change."""

    class Meta:
        model = Switch
        fields = ("enabled", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "reason" in self.fields:
            self.initial["reason"] = ""
            self.fields["reason"].required = True


@admin.register(Switch)
class SwitchAdmin(WritableAdmin):
    form = SwitchForm
    fields = ("enabled", "reason")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Switch | None:
        """Return the switch; a switch without a row yet is on."""
        if object_id not in Switch.Name.values:
            return None
        return Switch.objects.filter(pk=object_id).first() or Switch(name=object_id)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": "Fleet-wide switches",
            "opts": self.opts,
            "switches": [self.get_object(request, name) for name in Switch.Name.values],
        }
        return TemplateResponse(request, "admin/agency/switch/list.html", context)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Switch, form: Any, change: bool) -> None:
        saved = set_switch(name=obj.name, by=staff_actor(request), **form.cleaned_data)
        copy_model_fields(saved, obj)
