"""Admin of records that support may only read: plans, keys, activity, jobs; and the fleet-wide switches."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from agency.admin.base import (
    AgencyFilter,
    FilteredRecordAdmin,
    ReadOnlyAdmin,
    RowForm,
    WritableAdmin,
    copy_model_fields,
    staff_actor,
)
from agency.models import ActivityEntry, Addon, AgencyKey, BulkOperation, Export, Plan, Switch
from agency.pages.activity import changes_of
from agency.services import set_switch
from agency.services.jobs import restart_job
from config.api.requests import parse_uuid
from config.errors import DomainError
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

    def search(self, queryset: "QuerySet[ActivityEntry]", term: str) -> "QuerySet[ActivityEntry]":
        found = parse_uuid(term)
        return queryset.filter(workspace_uuid=found) if found else queryset.none()


@admin.register(BegunWork)
class BegunWorkAdmin(ReadOnlyAdmin):
    """Work that is under way, that died, or that was set aside as it killed its process again and again."""

    list_display = ("kind", "key", "tries", "begun_at", "set_aside_at")
    fields = list_display
    search_fields = ("kind",)
    search_help_text = "A kind of work, as the list has it."

    def search(self, queryset: "QuerySet[BegunWork]", term: str) -> "QuerySet[BegunWork]":
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

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": "Fleet-wide switches",
            "opts": self.opts,
            "switches": [self.get_object(request, name) for name in Switch.Name.values],
        }
        return TemplateResponse(request, "admin/agency/switch/list.html", context)

    def has_add_permission(self, request: HttpRequest, obj: Switch | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Switch, form: SwitchForm, change: bool) -> None:
        saved = set_switch(name=obj.name, by=staff_actor(request), **form.cleaned_data)
        copy_model_fields(saved, obj)


FIELDS = ("id", "uuid", "agency", "kind", "state", "stopped_because", "created_by", "created_at", "ended_at")


class JobAdmin(FilteredRecordAdmin):
    """Jobs can be begun again by those who have the permission to change them. Nothing else of them changes here."""

    list_display: tuple[str, ...] = ("kind", "state", "agency", "created_by", "created_at", "stopped_because", "uuid")
    list_select_related = ("agency", "created_by")
    list_filter = (AgencyFilter,)
    change_form_template = "admin/agency/job_change_form.html"

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_restart"
        own = path("<int:pk>/restart/", self.admin_site.admin_view(self.restart_view), name=name)
        return [own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        context = {"may_restart": self._may_restart(request), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def restart_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self._may_restart(request):
            raise PermissionDenied
        job: BulkOperation | Export | None = self.get_object(request, str(pk))
        if job is None:
            raise Http404
        try:
            restart_job(job=job, by=staff_actor(request))
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return self.back_to(request, job)
        return self.done(request, job, "It was restarted.")

    def _may_restart(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}"))


@admin.register(BulkOperation)
class BulkOperationAdmin(JobAdmin):
    fields = (*FIELDS, "total", "succeeded", "unchanged", "failed")


@admin.register(Export)
class ExportAdmin(JobAdmin):
    fields = (*FIELDS, "format", "total", "rows", "bytes", "is_cut")
