"""Admin of bulk changes and exports: support reads them, and begins those again that have failed."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, path

from agency.admin.base import AgencyFilter, FilteredRecordAdmin, staff_actor
from agency.models import BulkOperation, Export
from agency.services.jobs import restart_job
from config.errors import DomainError

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
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {"may_restart": self._may_restart(request), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def restart_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self._may_restart(request):
            raise PermissionDenied
        job: Any = self.get_object(request, str(pk))
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
