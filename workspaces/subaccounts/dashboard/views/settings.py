"""What a workspace says of itself: its automations' texts read it."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from workspaces.subaccounts.dashboard.forms import SettingsForm
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
