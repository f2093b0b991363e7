"""Admin of agencies' members: change a role, remove a member. New people are invited (`invitations`)."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from agency.admin.base import ChangingAdmin, staff_actor
from agency.models import Member
from agency.services import change_role, remove_member


@admin.register(Member)
class MemberAdmin(ChangingAdmin):
    list_display = ("user", "agency", "role", "created_at")
    list_select_related = ("user", "agency")
    search_fields = ("user__email",)
    search_help_text = "The beginning of an e-mail address."
    fields = ("agency", "user", "role", "created_at")
    readonly_fields = ("agency", "user", "created_at")

    def search(self, queryset: Any, term: str) -> Any:
        return queryset.filter(user__email__startswith=term.lower())

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)

    def name_to_type(self, obj: Any) -> str:
        return str(obj.user.email) if obj else ""

    def save_model(self, request: HttpRequest, obj: Member, form: Any, change: bool) -> None:
        change_role(member=obj, role=form.cleaned_data["role"], by=staff_actor(request))

    def delete_model(self, request: HttpRequest, obj: Member) -> None:
        remove_member(member=obj, by=staff_actor(request))
