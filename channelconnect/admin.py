"""The support admin's pages about connecting channels: the switch of each agency, and records without secrets."""

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from agency.admin.base import ReadOnlyAdmin, RowForm, WritableAdmin, copy_model_fields, staff_actor
from channelconnect.models import ConnectSession, ConnectSettings, ProviderNotice, Unsubscription
from channelconnect.services.settings import switch_connect
from config.api.requests import parse_uuid

# What the agency has chosen itself.
CHOSEN = ("return_urls", "customers_connect", "allows_business_app", "changed_at")
SWITCH = ("agency", "enabled", "reason")


class SwitchForm(RowForm):
    """The reason has to be given for each change; it goes into the activity log."""

    reason = forms.CharField(max_length=500, widget=forms.TextInput(attrs={"class": "vTextField"}))

    class Meta:
        model = ConnectSettings
        fields = ("agency", "enabled")


@admin.register(ConnectSettings)
class ConnectSettingsAdmin(WritableAdmin):
    """The switch that lets an agency connect channels. An agency without a row is added here."""

    form = SwitchForm
    list_display = ("agency", "enabled", "return_urls", "changed_at")
    list_select_related = ("agency",)
    raw_id_fields = ("agency",)
    search_fields = ("agency__uuid",)
    search_help_text = "An agency's uuid."

    def search(self, queryset: "QuerySet[ConnectSettings]", term: str) -> "QuerySet[ConnectSettings]":
        return by_agency(queryset, term)

    def get_fields(self, request: HttpRequest, obj: ConnectSettings | None = None) -> tuple[str, ...]:
        return ("agency", "enabled", "reason", *CHOSEN) if obj else SWITCH

    def get_readonly_fields(self, request: HttpRequest, obj: ConnectSettings | None = None) -> tuple[str, ...]:
        return ("agency", *CHOSEN) if obj else ()

    def save_model(self, request: HttpRequest, obj: ConnectSettings, form: SwitchForm, change: bool) -> None:
        data = form.cleaned_data
        saved = switch_connect(
            agency=obj.agency, enabled=data["enabled"], reason=data["reason"], by=staff_actor(request)
        )
        copy_model_fields(saved, obj)


def by_agency(queryset: "QuerySet[ConnectSettings]", term: str) -> "QuerySet[ConnectSettings]":
    """Keep the rows of the agency with this uuid."""
    found = parse_uuid(term)
    return queryset.filter(agency__uuid=found) if found else queryset.none()


@admin.register(ConnectSession)
class ConnectSessionAdmin(ReadOnlyAdmin):
    list_display = ("platform", "status", "error_code", "agency", "workspace", "created_at", "uuid")
    list_select_related = ("agency", "workspace")
    fields = (
        "uuid",
        "agency",
        "workspace",
        "platform",
        "keeps_business_app",
        "status",
        "error_code",
        "return_url",
        "state",
        "target",
        "channel",
        "created_by",
        "created_at",
        "expires_at",
        "ended_at",
    )


@admin.register(Unsubscription)
class UnsubscriptionAdmin(ReadOnlyAdmin):
    """Subscriptions that are, were or could not be taken back at providers; never with their token."""

    list_display = ("platform", "status", "workspace", "reason", "fault", "tries", "due_at", "ended_at", "uuid")
    list_select_related = ("workspace",)
    list_filter = ("status",)
    search_help_text = "Its uuid, a sub-account's or a channel's."
    fields = (
        "uuid",
        "workspace",
        "channel",
        "connection_id",
        "platform",
        "container_id",
        "reason",
        "status",
        "fault",
        "tries",
        "created_at",
        "due_at",
        "in_flight_until",
        "ended_at",
    )

    def search(self, queryset: "QuerySet[Unsubscription]", term: str) -> "QuerySet[Unsubscription]":
        found = parse_uuid(term)
        if found is None:
            return queryset.none()
        return queryset.filter(Q(uuid=found) | Q(workspace__uuid=found) | Q(channel__uuid=found))


@admin.register(ProviderNotice)
class ProviderNoticeAdmin(ReadOnlyAdmin):
    """The bodies are customers' messages, so support cannot read them."""

    list_display = ("id", "status", "received_at", "read_at", "fault")
    fields = ("id", "received_at", "read_at", "fault", "size")
    readonly_fields = ("size",)
    search_fields = ("id",)
    search_help_text = "The number of a callback."

    def search(self, queryset: "QuerySet[ProviderNotice]", term: str) -> "QuerySet[ProviderNotice]":
        return queryset.filter(pk=int(term)) if term.isdecimal() and len(term) < 19 else queryset.none()

    @admin.display
    def status(self, notice: ProviderNotice) -> str:
        return "Not readable" if notice.fault else "Read" if notice.read_at else "Waiting"

    @admin.display(description="bytes")
    def size(self, notice: ProviderNotice) -> int:
        return len(bytes(notice.body))
