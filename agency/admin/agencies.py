"""Admin of agencies: create, rename, limit, suspend and restore them."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from agency.admin.base import TEXT, ChangingAdmin, NamedForm, TypedNameForm, by_uuid, copy_fields, staff_actor
from agency.admin.overview import find_page, overview_page
from agency.models import Agency
from agency.services import change_agency, create_agency, restore_agency, suspend_agency
from agency.services.agencies import AgencyNameTaken
from config.api.requests import parse_uuid
from config.db import name_key

RELATED = (
    ("Sub-accounts", "subaccounts_workspace"),
    ("Members", "agency_member"),
    ("Invitations", "agency_invitation"),
    ("API keys", "agency_agencykey"),
    ("Plans", "agency_plan"),
    ("Add-ons", "agency_addon"),
    ("Events", "agency_event"),
    ("Webhooks", "webhooks_endpoint"),
    ("Deliveries", "webhooks_delivery"),
    ("Channel connect", "channelconnect_connectsettings"),
    ("Connections", "channelconnect_connectsession"),
    ("Activity", "agency_activityentry"),
    ("E-mails", "agency_mail"),
    ("E-mail settings", "agency_mailsettings"),
)


class AgencyForm(NamedForm):
    class Meta:
        model = Agency
        fields = ("name", "max_sub_accounts")

    def clean_name(self) -> str:
        name = super().clean_name()
        if Agency.objects.filter(name_key=name_key(name)).exclude(pk=self.instance.pk).exists():
            raise ValidationError(AgencyNameTaken.message)
        return name


class SuspensionForm(TypedNameForm):
    reason = forms.CharField(max_length=500, widget=forms.TextInput(attrs=TEXT))

    field_order = ("reason", "typed_name")


@admin.register(Agency)
class AgencyAdmin(ChangingAdmin):
    form = AgencyForm
    list_display = ("name", "status", "id", "sub_account_count", "max_sub_accounts", "created_at")
    list_filter = ("status",)
    search_fields = ("name",)
    search_help_text = "The beginning of a name, or a uuid."
    fields = (
        "name",
        "max_sub_accounts",
        "id",
        "uuid",
        "status",
        "suspended_at",
        "suspension_reason",
        "sub_account_count",
        "created_at",
        "more",
    )
    readonly_fields = fields[2:]

    def search(self, queryset: "QuerySet[Agency]", term: str) -> "QuerySet[Agency]":
        if parse_uuid(term):
            return by_uuid(queryset, term)
        return queryset.filter(name_key__startswith=name_key(term))

    @admin.display(description="what belongs to it")
    def more(self, agency: Agency) -> SafeString | str:
        query = urlencode({"agency__id__exact": agency.pk})
        links = [(f"{reverse(f'admin:{name}_changelist')}?{query}", label) for label, name in RELATED]
        return format_html_join(" · ", '<a href="{}">{}</a>', links) if agency.pk else "-"

    def save_model(self, request: HttpRequest, obj: Agency, form: Any, change: bool) -> None:
        values = form.cleaned_data
        if change:
            saved = change_agency(agency=obj, by=staff_actor(request), **values)
        else:
            saved = create_agency(by=staff_actor(request), **values)
        copy_fields(saved, obj)

    def get_urls(self) -> list[URLPattern]:
        own = self.admin_site.admin_view
        return [
            path("find/", own(self.find_view), name="agency_agency_find"),
            path("<int:pk>/overview/", own(self.overview_view), name="agency_agency_overview"),
            path("<int:pk>/suspend/", own(self.suspend_view), name="agency_agency_suspend"),
            path("<int:pk>/restore/", own(self.restore_view), name="agency_agency_restore"),
            *super().get_urls(),
        ]

    def find_view(self, request: HttpRequest) -> HttpResponse:
        """Find among all agencies; people see the results of a source only if they may view its list."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return find_page(request)

    def overview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return overview_page(request, get_object_or_404(Agency, pk=pk))

    def suspend_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for the reason and the agency's name, then suspend."""
        agency = self._changeable(request, pk)
        form = SuspensionForm(agency.name, request.POST or None)
        if form.is_valid():
            suspend_agency(
                agency=agency, reason=form.cleaned_data["reason"], now=timezone.now(), by=staff_actor(request)
            )
            return self.done(request, agency, f"{agency} is suspended.")
        context = {
            **self.admin_site.each_context(request),
            "title": f"Suspend {agency}",
            "opts": self.opts,
            "original": agency,
            "form": form,
            "preserved_filters": self.get_preserved_filters(request),
        }
        return TemplateResponse(request, "admin/agency/agency/suspend.html", context)

    def restore_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        agency = self._changeable(request, pk)
        restore_agency(agency=agency, by=staff_actor(request))
        return self.done(request, agency, f"{agency} is active again.")

    def _changeable(self, request: HttpRequest, pk: int) -> Agency:
        agency: Agency | None = self.get_object(request, str(pk))
        if agency is None:
            raise Http404
        if not self.has_change_permission(request, agency):
            raise PermissionDenied
        return agency
