"""The people of agencies' consoles: added by e-mail address, given another role, removed."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from agency.admin.base import ChangingAdmin, RowForm, copy_fields, staff_actor
from agency.models import Member
from agency.services import add_member, change_role, remove_member


class NewMemberForm(RowForm):
    email = forms.EmailField(help_text="A person who is new to the service gets an invitation.")
    name = forms.CharField(max_length=120)

    class Meta:
        model = Member
        fields = ("agency", "role")


@admin.register(Member)
class MemberAdmin(ChangingAdmin):
    list_display = ("user", "agency", "role", "created_at")
    list_select_related = ("user", "agency")
    search_fields = ("user__email",)
    search_help_text = "The beginning of an e-mail address."
    raw_id_fields = ("agency",)

    def search(self, queryset: Any, term: str) -> Any:
        return queryset.filter(user__email__startswith=term.lower())

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **({} if obj else {"form": NewMemberForm}), **kwargs)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("agency", "user", "role", "created_at") if obj else ("agency", "email", "name", "role")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("agency", "user", "created_at") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Member, form: Any, change: bool) -> None:
        if change:
            change_role(member=obj, role=form.cleaned_data["role"], by=staff_actor(request))
        else:
            copy_fields(add_member(by=staff_actor(request), **form.cleaned_data), obj)

    def delete_model(self, request: HttpRequest, obj: Member) -> None:
        remove_member(member=obj, by=staff_actor(request))
