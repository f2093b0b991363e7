"""Admin of people: their names, whether they may sign in, and which of them are support staff."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from agency.admin.base import (
    ConfirmByNameForm,
    NamedForm,
    ReadOnlyAdmin,
    RestrictedLookups,
    RowForm,
    WritableAdmin,
    copy_model_fields,
    staff_actor,
)
from agency.models import PushSubscription, User
from agency.services.members import change_user, invite_user
from agency.services.passwords import only_agency_of, queue_password_reset_mail
from agency.services.two_factor import has_two_factor, reset_two_factor

admin.site.unregister(Group)


@admin.register(Group)
class SupportGroupAdmin(RestrictedLookups, GroupAdmin):
    """Groups of rights, as in Django's own admin."""


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


@admin.register(User)
class UserAdmin(WritableAdmin):
    """Only superusers grant rights, invite colleagues and change the accounts of support staff."""

    form = PersonForm
    list_display = ("email", "name", "is_active", "is_staff", "last_login")
    list_filter = ("is_staff",)
    search_fields = ("email",)
    search_help_text = "The beginning of an e-mail address."
    filter_horizontal = ("groups",)

    def search(self, queryset: "QuerySet[User]", term: str) -> "QuerySet[User]":
        return queryset.filter(email__startswith=term.lower())

    def get_form(
        self, request: HttpRequest, obj: User | None = None, change: bool = False, **kwargs: Any
    ) -> type[RowForm]:
        return super().get_form(request, obj, change, **({} if obj else {"form": NewUserForm}), **kwargs)

    def get_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        return ("email", "name", "is_active", "two_factor", *RIGHTS, *FACTS[1:]) if obj else NewUserForm.Meta.fields

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        if obj is None:
            return ()
        return (*FACTS, "two_factor") if _is_superuser(request) else (*FACTS, "two_factor", *RIGHTS)

    @admin.display(description="two-factor", boolean=True)
    def two_factor(self, user: User) -> bool:
        return has_two_factor(user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        beyond_reach = obj is not None and obj.is_staff and not _is_superuser(request)
        return not beyond_reach and super().has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: User, form: RowForm, change: bool) -> None:
        save = change_user if change else invite_user
        values = {"user": obj, **form.cleaned_data} if change else form.cleaned_data
        copy_model_fields(save(by=staff_actor(request), **values), obj)

    def get_urls(self) -> list[URLPattern]:
        own = self.admin_site.admin_view
        return [
            path("<int:pk>/reset/", own(self.reset_view), name="agency_user_reset"),
            path("<int:pk>/two-factor/", own(self.two_factor_view), name="agency_user_two_factor"),
            *super().get_urls(),
        ]

    def _changeable(self, request: HttpRequest, pk: int) -> User:
        user: User | None = self.get_object(request, str(pk))
        if user is None:
            raise Http404
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        return user

    def two_factor_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Reset the two-factor of a person who has lost it, once their address has been typed."""
        user = self._changeable(request, pk)
        form = ConfirmByNameForm(user.email, request.POST or None)
        if form.is_valid():
            was_on = reset_two_factor(user=user, by=staff_actor(request))
            done = "is reset, and an e-mail tells them" if was_on else "was not set up"
            return self.done(request, user, f"Two-factor of {user.email} {done}.")
        context = {
            **self.admin_site.each_context(request),
            "title": f"Reset two-factor of {user.email}",
            "opts": self.opts,
            "original": user,
            "form": form,
        }
        return TemplateResponse(request, "admin/agency/user/two_factor.html", context)

    def reset_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send the person a link to set a password."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        user = self._changeable(request, pk)
        queue_password_reset_mail(email=user.email, agency=only_agency_of(user))
        return self.done(request, user, f"{user.email} gets an e-mail with a link to set a password.")


def _is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "is_superuser", False))


@admin.register(PushSubscription)
class PushSubscriptionAdmin(ReadOnlyAdmin):
    """The browsers in which people see alerts, without what would let anybody send one."""

    list_display = ("browser", "user", "service", "agency", "created_at", "last_used_at", "failures")
    list_select_related = ("user", "agency")
    fields = list_display
    search_fields = ("user__email",)
    search_help_text = "An e-mail address."

    def search(self, queryset: "QuerySet[PushSubscription]", term: str) -> "QuerySet[PushSubscription]":
        return queryset.filter(user__email=term.lower())
