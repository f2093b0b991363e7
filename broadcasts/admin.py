"""The support admin's pages: broadcasts, read-only and without their messages, and the rate card."""

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from agency.admin.base import ReadOnlyAdmin, by_uuid, staff_actor
from broadcasts.models import Broadcast, Rate
from broadcasts.services.costs import COLUMNS, MOST_BYTES, RateCardRefused, import_rates
from workspaces.subaccounts.admin import of_workspace


class RateCardForm(forms.Form):
    file = forms.FileField(
        label="CSV file", help_text=f"The first line names the columns: {', '.join(COLUMNS)}.", allow_empty_file=True
    )

    def clean_file(self) -> bytes:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError("The file may have 1 MiB at most.")
        content: bytes = file.read()
        return content


@admin.register(Rate)
class RateAdmin(ReadOnlyAdmin):
    list_display = ("currency", "category", "market", "price", "valid_from")
    list_filter = ("currency", "category")
    search_fields = ("market",)
    search_help_text = "A market: a country's code, or the name of a part of the world."
    change_list_template = "admin/broadcasts/rate/list.html"

    def search(self, queryset: "QuerySet[Rate]", term: str) -> "QuerySet[Rate]":
        return queryset.filter(market__in=(term.upper(), term.lower()))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        more = {"may_import": self._may_import(request)}
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def get_urls(self) -> list[URLPattern]:
        own = self.admin_site.admin_view(self.import_view)
        return [path("import/", own, name="broadcasts_rate_import"), *super().get_urls()]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Import a whole file, or name each faulty line and its fault."""
        if not self._may_import(request):
            raise PermissionDenied
        form = RateCardForm(request.POST or None, request.FILES or None)
        refused = None
        if form.is_valid():
            try:
                number = import_rates(content=form.cleaned_data["file"], by=staff_actor(request))
            except RateCardRefused as error:
                refused = error
            else:
                self.message_user(request, f"{number} rates were imported.")
                return redirect("admin:broadcasts_rate_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": "Import a rate card",
            "opts": self.opts,
            "form": form,
            "refused": refused,
        }
        return TemplateResponse(request, "admin/broadcasts/rate/import.html", context)

    def _may_import(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("broadcasts.add_rate"))


@admin.register(Broadcast)
class BroadcastAdmin(ReadOnlyAdmin):
    list_display = ("name", "status", "workspace", "channel", "recipients_count", "created_at", "uuid")
    list_select_related = ("workspace", "channel")
    list_filter = ("status", "type")
    search_help_text = "The broadcast's uuid, or its sub-account's."
    fields = (
        "uuid",
        "workspace",
        "channel",
        "name",
        "type",
        "status",
        "paused_reason",
        "audience",
        "segment",
        "source_broadcast",
        "retarget_engagement",
        "timezone_mode",
        "scheduled_at",
        "scheduled_local_at",
        "due_at",
        "requires_approval",
        "approved_at",
        "created_by_kind",
        "created_at",
        "updated_at",
        "started_at",
        "completed_at",
        "is_prepared",
        "broke_off_at",
        "next_due_at",
        "recipients_count",
    )

    def search(self, queryset: "QuerySet[Broadcast]", term: str) -> "QuerySet[Broadcast]":
        found: QuerySet[Broadcast] = by_uuid(queryset, term) | of_workspace(queryset, term)
        return found
