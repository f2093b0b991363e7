"""Admin of an agency's members, of invitations to its team, and of its e-mails and their settings."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from agency.admin.base import NamedForm, ReadOnlyAdmin, RowForm, WritableAdmin, copy_model_fields, staff_actor
from agency.models import Invitation, Mail, MailSettings, Member
from agency.services import change_role, invite_member, remove_member, set_carries_account_links, withdraw_invitation
from config.api.requests import parse_uuid

ASKED = ("agency", "email", "name", "role")


class NewInvitationForm(NamedForm):
    class Meta:
        model = Invitation
        fields = ASKED
        help_texts = {"email": "People join the team when they accept. The e-mail has the link."}

    def clean_role(self) -> str:
        role = str(self.cleaned_data["role"])
        if role not in Member.Role.values:
            raise ValidationError("Choose a role.")
        return role


@admin.register(Invitation)
class InvitationAdmin(WritableAdmin):
    list_display = ("email", "status", "agency", "role", "workspace_uuid", "created_at", "expires_at")
    list_select_related = ("agency",)
    list_filter = ("status",)
    search_fields = ("email",)
    search_help_text = "The beginning of an e-mail address."
    raw_id_fields = ("agency",)

    def search(self, queryset: "QuerySet[Invitation]", term: str) -> "QuerySet[Invitation]":
        return queryset.filter(email__startswith=term.lower())

    def get_form(
        self, request: HttpRequest, obj: Invitation | None = None, change: bool = False, **kwargs: Any
    ) -> type[RowForm]:
        return super().get_form(request, obj, change, **({} if obj else {"form": NewInvitationForm}), **kwargs)

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> tuple[str, ...]:
        return (*ASKED, "workspace_uuid", "status", "invited_by", "created_at", "expires_at") if obj else ASKED

    def get_readonly_fields(self, request: HttpRequest, obj: Invitation | None = None) -> tuple[str, ...]:
        return self.get_fields(request, obj) if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return super().has_change_permission(request) and (obj is None or obj.is_open)

    def save_model(self, request: HttpRequest, obj: Invitation, form: NewInvitationForm, change: bool) -> None:
        copy_model_fields(invite_member(by=staff_actor(request), now=timezone.now(), **form.cleaned_data), obj)

    def name_to_type(self, obj: Invitation | None) -> str:
        return str(obj.email) if obj else ""

    def get_deleted_objects(
        self, objs: Iterable[Invitation], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """List the row alone: a withdrawn invitation stays in the table, and so do its e-mails."""
        return [str(one) for one in objs], {}, set(), []

    def delete_model(self, request: HttpRequest, obj: Invitation) -> None:
        """Withdraw the invitation; the row stays."""
        withdraw_invitation(invitation=obj, now=timezone.now(), by=staff_actor(request))


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
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
class MailSettingsAdmin(WritableAdmin):
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

    def has_add_permission(self, request: HttpRequest, obj: MailSettings | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: MailSettings, form: RowForm, change: bool) -> None:
        allowed = bool(form.cleaned_data["carries_account_links"])
        set_carries_account_links(settings=obj, allowed=allowed, by=staff_actor(request))


@admin.register(Member)
class MemberAdmin(WritableAdmin):
    list_display = ("user", "agency", "role", "created_at")
    list_select_related = ("user", "agency")
    search_fields = ("user__email",)
    search_help_text = "The beginning of an e-mail address."
    fields = ("agency", "user", "role", "created_at")
    readonly_fields = ("agency", "user", "created_at")

    def search(self, queryset: "QuerySet[Member]", term: str) -> "QuerySet[Member]":
        return queryset.filter(user__email__startswith=term.lower())

    def has_add_permission(self, request: HttpRequest, obj: Member | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Member | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def name_to_type(self, obj: Member | None) -> str:
        return str(obj.user.email) if obj else ""

    def save_model(self, request: HttpRequest, obj: Member, form: RowForm, change: bool) -> None:
        change_role(member=obj, role=form.cleaned_data["role"], by=staff_actor(request))

    def delete_model(self, request: HttpRequest, obj: Member) -> None:
        remove_member(member=obj, by=staff_actor(request))
