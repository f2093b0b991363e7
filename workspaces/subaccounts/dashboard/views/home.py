"""The dashboard's home page."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from agency.pages.registry import Alert
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.pages.home import checklist_of, concerns_of_workspace
from workspaces.subaccounts.pages.usage import UsedLimit, limits_against_use
from workspaces.subaccounts.services import change_workspace

HOME = "app:home"


class Home(DashboardView):
    """Shows warnings, the set-up steps, and how much of the plan is used."""

    nav = HOME

    def get(self, request: HttpRequest) -> HttpResponse:
        used = limits_against_use(self.workspace)
        hidden = self.workspace.first_steps_hidden
        return self.page(
            "subaccounts/dashboard/home.html",
            concerns=[*concerns_of_workspace(self.workspace), *_reached(used)],
            checklist=None if hidden else checklist_of(self.workspace),
            used=[one for one in used if one.matters],
            plan=self.workspace.plan,
        )


def _reached(used: list[UsedLimit]) -> Iterator[Alert]:
    for one in used:
        if one.is_reached and not one.is_meant_to_be_full:
            text = _("Your plan has no room left: %(used)s of %(allowed)s %(label)s are used.")
            given = {"used": one.used, "allowed": one.allowed, "label": one.label}
            yield Alert(text=text % given, url="#usage", action=_("Usage"))


class FirstStepsHide(DashboardView):
    """Hides the first steps for everybody in the workspace, or shows them again."""

    form_page = HOME
    nav = HOME

    def post(self, request: HttpRequest) -> HttpResponse:
        is_hidden = request.POST.get("hide") == "1"
        change_workspace(workspace=self.workspace, by=self.by, first_steps_hidden=is_hidden)
        message = _("The first steps are hidden.") if is_hidden else _("The first steps are shown again.")
        return self.done(message, HOME)
