"""People: who they are, whether they may sign in, and who of them is our support."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path

from agency.admin.base import ChangingAdmin, DeclaredLookups, NamedForm, copy_fields, staff_actor
from agency.models import User
from agency.services.people.passwords import request_password_reset
from agency.services.people.users import change_user, invite_user

admin.site.unregister(Group)


@admin.register(Group)
class SupportGroupAdmin(DeclaredLookups, GroupAdmin):
    """Groups of rights, as Django's own admin has them."""


RIGHTS = ("is_staff", "is_superuser", "groups")
FACTS = ("email", "last_login", "date_joined")


class PersonForm(NamedForm):
    class Meta:
        model = User
        fields = ("name",)


class NewUserForm(NamedForm):
    class Meta:
        model = User
        fields = ("email", "name")

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


@admin.register(User)
class UserAdmin(ChangingAdmin):
    """Only superusers give rights, invite colleagues and touch the accounts of support staff."""

    form = PersonForm
    list_display = ("email", "name", "is_active", "is_staff", "last_login")
    list_filter = ("is_staff",)
    search_fields = ("email",)
    search_help_text = "The beginning of an e-mail address."
    filter_horizontal = ("groups",)

    def search(self, queryset: "QuerySet[User]", term: str) -> "QuerySet[User]":
        return queryset.filter(email__startswith=term.lower())

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **({} if obj else {"form": NewUserForm}), **kwargs)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("email", "name", "is_active", *RIGHTS, *FACTS[1:]) if obj else NewUserForm.Meta.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None:
            return ()
        return FACTS if _is_superuser(request) else (*FACTS, *RIGHTS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        beyond_reach = obj is not None and obj.is_staff and not _is_superuser(request)
        return not beyond_reach and super().has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        save = change_user if change else invite_user
        values = {"user": obj, **form.cleaned_data} if change else form.cleaned_data
        copy_fields(save(by=staff_actor(request), **values), obj)

    def get_urls(self) -> list[URLPattern]:
        reset = self.admin_site.admin_view(self.reset_view)
        return [path("<int:pk>/reset/", reset, name="agency_user_reset"), *super().get_urls()]

    def reset_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send the person a link to set a password."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        user = self.get_object(request, str(pk))
        if user is None:
            raise Http404
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        request_password_reset(email=user.email)
        self.message_user(request, f"{user.email} gets an e-mail with a link to set a password.")
        return redirect("admin:agency_user_change", user.pk)


def _is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "is_superuser", False))
