"""Admin of e-mails and agencies' mail settings; only support sets what an agency's own server may carry."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from agency.admin.base import ChangingAdmin, RecordAdmin, staff_actor
from agency.models import Mail, MailSettings
from agency.services import set_carries_account_links
from config.api.requests import parse_uuid


@admin.register(Mail)
class MailAdmin(RecordAdmin):
    list_display = ("created_at", "status", "kind", "recipient", "agency", "failure", "failure_code", "failed_at")
    list_select_related = ("agency",)
    search_fields = ("recipient",)
    search_help_text = "An e-mail address."
    fields = (
        "id",
        "kind",
        "recipient",
        "agency",
        "created_at",
        "attempts",
        "next_attempt_at",
        "sent_at",
        "given_up_at",
        "by_own_server",
        "failure",
        "failure_step",
        "failure_code",
        "failure_text",
        "failed_at",
        "queued_again_at",
    )

    def search(self, queryset: "QuerySet[Mail]", term: str) -> "QuerySet[Mail]":
        return queryset.filter(recipient=term.lower())

    @admin.display
    def status(self, mail: Mail) -> str:
        if mail.sent_at:
            return "Sent"
        return "Given up" if mail.given_up_at else "Waiting"


@admin.register(MailSettings)
class MailSettingsAdmin(ChangingAdmin):
    list_display = ("agency", "status", "host", "from_address", "carries_account_links", "failures", "failed_at")
    list_select_related = ("agency",)
    search_fields = ("agency__uuid",)
    search_help_text = "The agency's uuid."
    fields = (
        "agency",
        "carries_account_links",
        "sender_name",
        "reply_to",
        "host",
        "port",
        "security",
        "username",
        "from_address",
        "verified_at",
        "failures",
        "resting_until",
        "failure",
        "failure_step",
        "failure_code",
        "failure_text",
        "failed_at",
        "tested_at",
        "changed_at",
    )
    readonly_fields = tuple(name for name in fields if name != "carries_account_links")

    def search(self, queryset: "QuerySet[MailSettings]", term: str) -> "QuerySet[MailSettings]":
        found = parse_uuid(term)
        return queryset.filter(agency__uuid=found) if found else queryset.none()

    @admin.display
    def status(self, settings: MailSettings) -> str:
        if not settings.has_server:
            return "Installation's server"
        return "Own server" if settings.verified_at else "Own server, not tested"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: MailSettings, form: Any, change: bool) -> None:
        allowed = bool(form.cleaned_data["carries_account_links"])
        set_carries_account_links(settings=obj, allowed=allowed, by=staff_actor(request))
