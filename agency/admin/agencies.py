"""Admin of agencies: create, limit, suspend and restore them, and see their domains and their events."""

import json
from datetime import UTC, date, datetime, time, timedelta
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
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agency.admin.base import (
    LARGEST_ID,
    TEXT,
    AgencyFilter,
    ConfirmByNameForm,
    DayFilter,
    FilteredRecordAdmin,
    NamedForm,
    RowForm,
    WritableAdmin,
    by_uuid,
    copy_model_fields,
    staff_actor,
)
from agency.admin.overview import find_page, overview_page
from agency.models import Agency, Domain, Event
from agency.pages.help import SUPPORT, TITLE, guide_named, guides_of, picture_of, related_guides
from agency.pages.pagination import Row
from agency.services import change_agency, create_agency, restore_agency, suspend_agency
from agency.services.agencies import AgencyNameTaken
from agency.services.domains import remove_domain
from config.api.requests import parse_uuid
from config.db import name_key
from config.retention import first_id_since

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
    ("Bulk changes", "agency_bulkoperation"),
    ("Exports", "agency_export"),
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


class SuspensionForm(ConfirmByNameForm):
    reason = forms.CharField(max_length=500, widget=forms.TextInput(attrs=TEXT))

    field_order = ("reason", "typed_name")


@admin.register(Agency)
class AgencyAdmin(WritableAdmin):
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

    def save_model(self, request: HttpRequest, obj: Agency, form: RowForm, change: bool) -> None:
        values = form.cleaned_data
        if change:
            saved = change_agency(agency=obj, by=staff_actor(request), **values)
        else:
            saved = create_agency(by=staff_actor(request), **values)
        copy_model_fields(saved, obj)

    def get_urls(self) -> list[URLPattern]:
        own = self.admin_site.admin_view
        return [
            path("find/", own(self.find_view), name="agency_agency_find"),
            path("help/", own(guide_list_page), name="agency_agency_help"),
            path("help/<slug:slug>/", own(guide_page), name="agency_agency_help_guide"),
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


@admin.register(Domain)
class DomainAdmin(WritableAdmin):
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

    def has_change_permission(self, request: HttpRequest, obj: Domain | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Domain | None = None) -> bool:
        return super().has_change_permission(request)

    def name_to_type(self, obj: Domain | None) -> str:
        return str(obj.host) if obj else ""

    def delete_model(self, request: HttpRequest, obj: Domain) -> None:
        remove_domain(domain=obj, by=staff_actor(request))


WAITING, FANNED_OUT = "waiting", "fanned out"


class EventStatusFilter(admin.SimpleListFilter):
    title = parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(WAITING, "Waiting"), (FANNED_OUT, "Fanned out")]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Row]") -> "QuerySet[Row]":
        return queryset.filter(fanned_out_at__isnull=self.value() == WAITING) if self.value() else queryset


class EventDayFilter(DayFilter):
    def of_day(self, queryset: "QuerySet[Row]", day: date) -> "QuerySet[Row]":
        """Return a day's events by a range of ids, which rise with time, give or take a minute of transaction."""
        start = datetime.combine(day, time(), UTC)
        ends = (start - timedelta(minutes=1), start + timedelta(days=1, minutes=1))
        first, end = (
            first_id_since(moment, table="agency_event", column="occurred_at", first=0, end=LARGEST_ID)
            for moment in ends
        )
        numbered = queryset.filter(pk__gte=first, pk__lt=end)
        return numbered.filter(occurred_at__gte=start, occurred_at__lt=start + timedelta(days=1))


@admin.register(Event)
class EventAdmin(FilteredRecordAdmin):
    list_display = ("name", "status", "uuid", "agency", "occurred_at", "fanned_out_at")
    list_select_related = ("agency",)
    list_filter = (AgencyFilter, EventStatusFilter, EventDayFilter)
    fields = (
        "uuid",
        "agency",
        "workspace_id",
        "name",
        "workspace_uuid",
        "occurred_at",
        "status",
        "fanned_out_at",
        "envelope",
    )
    readonly_fields = ("status", "envelope")

    @admin.display
    def status(self, event: Event) -> str:
        return FANNED_OUT if event.fanned_out_at else WAITING

    @admin.display
    def envelope(self, event: Event) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(json.loads(bytes(event.body)), indent=2, ensure_ascii=False))


# Guides --------------------------------------------------------------------------------------------


def guide_list_page(request: HttpRequest) -> HttpResponse:
    return _page(request, "admin/agency/help/list.html", title=TITLE, guides=guides_of(SUPPORT))


def guide_page(request: HttpRequest, slug: str) -> HttpResponse:
    guide = guide_named(SUPPORT, slug)
    picture, related = picture_of(guide), related_guides(guide)
    template = "admin/agency/help/guide.html"
    return _page(request, template, title=guide.title, guide=guide, picture=picture, related=related)


def _page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), "opts": Agency._meta, **context})
