"""Admin of team invitations: support sends the first owner's invitation, and withdraws unanswered invitations."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from agency.admin.base import ChangingAdmin, NamedForm, copy_fields, staff_actor
from agency.models import Invitation, Member
from agency.services import invite_member, withdraw_invitation

ASKED = ("agency", "email", "name", "role")


class NewInvitationForm(NamedForm):
    class Meta:
        model = Invitation
        fields = ASKED
        help_texts = {"email": "Nobody is in the team before they have accepted; the e-mail has the link."}

    def clean_role(self) -> str:
        role = str(self.cleaned_data["role"])
        if role not in Member.Role.values:
            raise ValidationError("Choose a role.")
        return role


@admin.register(Invitation)
class InvitationAdmin(ChangingAdmin):
    list_display = ("email", "status", "agency", "role", "workspace_uuid", "created_at", "expires_at")
    list_select_related = ("agency",)
    list_filter = ("status",)
    search_fields = ("email",)
    search_help_text = "The beginning of an e-mail address."
    raw_id_fields = ("agency",)

    def search(self, queryset: "QuerySet[Invitation]", term: str) -> "QuerySet[Invitation]":
        return queryset.filter(email__startswith=term.lower())

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **({} if obj else {"form": NewInvitationForm}), **kwargs)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*ASKED, "workspace_uuid", "status", "invited_by", "created_at", "expires_at") if obj else ASKED

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.get_fields(request, obj) if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request) and (obj is None or obj.is_open)

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        copy_fields(invite_member(by=staff_actor(request), now=timezone.now(), **form.cleaned_data), obj)

    def name_to_type(self, obj: Any) -> str:
        return str(obj.email) if obj else ""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List the row alone: a withdrawn invitation stays in the table, and so do its e-mails."""
        return [str(one) for one in objs], {}, set(), []

    def delete_model(self, request: HttpRequest, obj: Invitation) -> None:
        """Withdraw the invitation; the row stays."""
        withdraw_invitation(invitation=obj, now=timezone.now(), by=staff_actor(request))
