"""The page on which a workspace's people say which prerequisites of automations they have."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from workspaces.automations.dashboard.forms import PrerequisitesForm
from workspaces.automations.services import change_readiness, met_requirements
from workspaces.subaccounts.dashboard.base import DashboardForm

PAGE = "app:prerequisites"


class Prerequisites(DashboardForm[PrerequisitesForm]):
    """Shows a checkbox for each prerequisite. Those that a feature checks by itself are shown without one."""

    nav = PAGE
    template_name = "automations/prerequisites.html"

    def make_form(self, data: Any = None) -> PrerequisitesForm:
        return PrerequisitesForm(data, met=met_requirements(self.workspace))

    def save(self, form: PrerequisitesForm) -> HttpResponse:
        change_readiness(workspace=self.workspace, by=self.by, **form.changes())
        return self.done(_("Saved. Automations that need nothing else can be switched on now."), PAGE)
