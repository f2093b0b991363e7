"""What the workspace has that its automations may require, as its owner says."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from workspaces.automations.dashboard.forms import PrerequisitesForm
from workspaces.automations.services import change_readiness, met_requirements
from workspaces.subaccounts.dashboard.surface import DashboardView

PAGE = "app:prerequisites"


class Prerequisites(DashboardView):
    """One tick for each; what a feature answers for itself is shown and cannot be ticked."""

    nav = PAGE

    def get(self, request: HttpRequest) -> HttpResponse:
        form = PrerequisitesForm(met=met_requirements(self.workspace))
        return self.page("automations/prerequisites.html", form=form)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = PrerequisitesForm(request.POST, met=met_requirements(self.workspace))
        if not form.is_valid():
            return self.page("automations/prerequisites.html", form=form, status=422)
        change_readiness(workspace=self.workspace, by=self.by, **form.changes())
        return self.done(_("Saved. Automations that need nothing else can be switched on now."), PAGE)
