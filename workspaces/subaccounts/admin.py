"""Read-only pages of the support admin about sub-accounts."""

from typing import Any, TypeVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agency.admin.base import ConfirmByNameForm, ReadOnlyAdmin, by_uuid, staff_actor
from agency.models import Agency
from config.api.requests import parse_uuid
from config.errors import DomainError
from workspaces.subaccounts.models import Channel, HeldAddon, Workspace, WorkspaceKey, WorkspaceMember
from workspaces.subaccounts.models.workspaces import search_condition
from workspaces.subaccounts.pages.panels import loss_text, losses_of
from workspaces.subaccounts.services import move_workspace, restore_workspace

Row = TypeVar("Row", bound=Model)


class MoveForm(ConfirmByNameForm):
    agency = forms.ModelChoiceField(
        Agency.objects.all(),
        to_field_name="uuid",
        label="The new agency's uuid",
        widget=forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off"}),
        error_messages={"invalid_choice": "There is no agency with this uuid."},
    )

    field_order = ("agency", "typed_name")


class RestoreForm(forms.Form):
    reason = forms.CharField(max_length=500, widget=forms.TextInput(attrs={"class": "vTextField"}))


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    list_display = ("name", "status", "agency", "plan", "owner_email", "created_at", "uuid")
    list_select_related = ("agency", "plan")
    search_fields = ("name",)
    search_help_text = "A part of a name or of its owner's name or e-mail, three letters or more, or a uuid."
    fields = (
        "uuid",
        "agency",
        "name",
        "status",
        "suspended_at",
        "suspension_reason",
        "plan",
        "limits",
        "owner",
        "owner_name",
        "owner_email",
        "business_type",
        "timezone",
        "external_id",
        "metadata",
        "created_at",
    )

    def search(self, queryset: "QuerySet[Workspace]", term: str) -> "QuerySet[Workspace]":
        return by_uuid(queryset, term) if parse_uuid(term) else queryset.filter(search_condition(term))

    def get_urls(self) -> list[URLPattern]:
        move = self.admin_site.admin_view(self.move_view)
        restore = self.admin_site.admin_view(self.restore_view)
        return [
            path("<int:pk>/move/", move, name="subaccounts_workspace_move"),
            path("<int:pk>/restore/", restore, name="subaccounts_workspace_restore"),
            *super().get_urls(),
        ]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        return super().render_change_form(request, {**context, "may_change": may_change(request)}, *args, **options)

    def move_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for the new agency, then move the sub-account to it."""
        workspace = self._changeable(request, pk)
        form = MoveForm(workspace.name, request.POST or None)
        if form.is_valid() and self._move(request, workspace, form):
            message = f"{workspace} belongs to {form.cleaned_data['agency']} now."
            self.log_change(request, workspace, message)
            self.message_user(request, message)
            return redirect("admin:subaccounts_workspace_change", workspace.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Move {workspace}",
            "opts": self.opts,
            "original": workspace,
            "form": form,
        }
        return TemplateResponse(request, "admin/subaccounts/workspace/move.html", context)

    def restore_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for the reason, then restore the sub-account."""
        workspace = self._changeable(request, pk)
        form = RestoreForm(request.POST or None)
        if form.is_valid():
            reason = form.cleaned_data["reason"]
            restore_workspace(workspace=workspace, now=timezone.now(), by=staff_actor(request), reason=reason)
            return self.done(request, workspace, f"{workspace} is active again.")
        context = {
            **self.admin_site.each_context(request),
            "title": f"Restore {workspace}",
            "opts": self.opts,
            "original": workspace,
            "form": form,
        }
        return TemplateResponse(request, "admin/subaccounts/workspace/restore.html", context)

    def _changeable(self, request: HttpRequest, pk: int) -> Workspace:
        if not may_change(request):
            raise PermissionDenied
        workspace: Workspace | None = self.get_object(request, str(pk))
        if workspace is None:
            raise Http404
        return workspace

    def _move(self, request: HttpRequest, workspace: Workspace, form: MoveForm) -> bool:
        agency = form.cleaned_data["agency"]
        try:
            move_workspace(workspace=workspace, agency=agency, now=timezone.now(), by=staff_actor(request))
        except DomainError as refusal:
            form.add_error("agency", refusal.message)
            return False
        return True


def may_change(request: HttpRequest) -> bool:
    """Moving and restoring are the only changes here. Both require the permission to change workspaces."""
    return bool(request.user.has_perm("subaccounts.change_workspace"))


@admin.register(HeldAddon)
class HeldAddonAdmin(ReadOnlyAdmin):
    list_display = ("addon", "workspace", "granted_at")
    list_select_related = ("addon", "workspace")
    search_fields = ("workspace__uuid",)
    search_help_text = "A sub-account's uuid."
    fields = ("workspace", "addon", "limits", "granted_at")

    def search(self, queryset: "QuerySet[HeldAddon]", term: str) -> "QuerySet[HeldAddon]":
        return of_workspace(queryset, term)


@admin.register(Channel)
class ChannelAdmin(ReadOnlyAdmin):
    list_display = ("name", "status", "platform", "handle", "workspace", "connected_at")
    list_select_related = ("workspace",)
    list_filter = ("status",)
    search_help_text = "The channel's uuid, or its sub-account's."
    fields = ("uuid", "workspace", "platform", "external_id", "name", "handle", "status", "lost", "connected_at")
    readonly_fields = ("lost",)

    @admin.display(description="lost at the provider")
    def lost(self, channel: Channel) -> SafeString | str:
        """The cause and the time of the last loss, with a link to its entry."""
        entry = losses_of([channel]).get(channel.pk)
        if entry is None:
            return "-"
        url = reverse("admin:agency_activityentry_change", args=[entry.pk])
        return format_html('<a href="{}">{}</a>', url, loss_text(entry))

    def search(self, queryset: "QuerySet[Channel]", term: str) -> "QuerySet[Channel]":
        return by_uuid(queryset, term) | of_workspace(queryset, term)


@admin.register(WorkspaceMember)
class WorkspaceMemberAdmin(ReadOnlyAdmin):
    list_display = ("user", "workspace", "created_at")
    list_select_related = ("user", "workspace")
    search_help_text = "The beginning of an e-mail address, or a sub-account's uuid."
    fields = ("uuid", "workspace", "user", "created_at")

    def search(self, queryset: "QuerySet[WorkspaceMember]", term: str) -> "QuerySet[WorkspaceMember]":
        return queryset.filter(user__email__startswith=term.lower()) | of_workspace(queryset, term)


@admin.register(WorkspaceKey)
class WorkspaceKeyAdmin(ReadOnlyAdmin):
    list_display = ("name", "status", "prefix", "workspace", "last_used_at")
    list_select_related = ("workspace",)
    search_help_text = "The key's uuid, or its sub-account's."
    fields = (
        "uuid",
        "workspace",
        "name",
        "prefix",
        "allowed_networks",
        "created_by",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )

    @admin.display
    def status(self, key: WorkspaceKey) -> str:
        return key.state.capitalize()

    def search(self, queryset: "QuerySet[WorkspaceKey]", term: str) -> "QuerySet[WorkspaceKey]":
        return by_uuid(queryset, term) | of_workspace(queryset, term)


def of_workspace(queryset: "QuerySet[Row]", term: str) -> "QuerySet[Row]":
    found = parse_uuid(term)
    return queryset.filter(workspace__uuid=found) if found else queryset.none()
