"""The workspace's settings, which the texts of its automations may show."""

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from workspaces.subaccounts.dashboard.current_workspace import OWNERS
from workspaces.subaccounts.dashboard.forms import SettingsForm, TwoFactorForm
from workspaces.subaccounts.dashboard.surface import DashboardForm
from workspaces.subaccounts.services import change_workspace

PAGE = "app:settings"


class Settings(DashboardForm[SettingsForm]):
    nav = PAGE
    template_name = "subaccounts/settings.html"

    def make_form(self, data: Any = None) -> SettingsForm:
        return SettingsForm(data, workspace=self.workspace)

    def save(self, form: SettingsForm) -> HttpResponse:
        change_workspace(workspace=self.workspace, by=self.by, **form.changes())
        return self.done(_("The settings were saved."), PAGE)


class TwoFactorRequirement(DashboardForm[TwoFactorForm]):
    """The owner decides whether the owner and the members need two-factor."""

    nav = PAGE
    writers = OWNERS
    writers_only = True
    template_name = "pages/dashboard/form.html"

    def make_form(self, data: Any = None) -> TwoFactorForm:
        return TwoFactorForm(data, initial={"required": self.workspace.two_factor_required})

    def save(self, form: TwoFactorForm) -> HttpResponse:
        is_required = form.cleaned_data["required"]
        change_workspace(workspace=self.workspace, by=self.by, two_factor_required=is_required)
        message = _("Two-factor is required now.") if is_required else _("Two-factor is no longer required.")
        return self.done(message, PAGE)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [(_("Settings"), reverse(PAGE))], "heading": _("Two-factor"), "submit": _("Save")}
