"""A sub-account's plan and add-ons."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.console.base import FormPage
from agency.models import Addon, Plan
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from agency.services import AddonNotFound
from workspaces.subaccounts.console.forms import AddonForm, PlanForm
from workspaces.subaccounts.console.views.sub_account import PAGE, OneSubAccount
from workspaces.subaccounts.services import assign_plan, grant_addon, revoke_addon


class PlanChoice(OneSubAccount, FormPage[PlanForm]):
    """Assigns a plan. Choosing the present plan again copies its limits anew."""

    template_name = "subaccounts/assign_plan.html"

    def make_form(self, data: Any = None) -> PlanForm:
        plans = Plan.objects.filter(agency=self.agency, archived_at=None).order_by("name_key", "id")
        return PlanForm(data, plans=plans, initial={"plan": self.workspace.plan.uuid if self.workspace.plan else None})

    def save(self, form: PlanForm) -> HttpResponse:
        plan: Plan = form.cleaned_data["plan"]
        self.workspace = assign_plan(workspace=self.workspace, plan=plan, now=timezone.now(), by=self.by)
        message = _("%(name)s now has the plan %(plan)s.") % {"name": self.workspace.name, "plan": plan.name}
        return self.done(message, PAGE, self.workspace.uuid)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Plan of %(name)s") % {"name": self.workspace.name},
            "submit": _("Assign plan"),
            "workspace": self.workspace,
        }


class AddonGrant(OneSubAccount):
    """Grants the add-on chosen on the sub-account's page."""

    keeps_form_data = True
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        form = AddonForm(request.POST, addons=Addon.objects.filter(agency=self.agency, archived_at=None))
        if not form.is_valid():
            messages.error(request, _("Choose an add-on first."))
            return redirect(PAGE, self.workspace.uuid)
        addon: Addon = form.cleaned_data["addon"]
        granted = grant_addon(workspace=self.workspace, addon=addon, now=timezone.now(), by=self.by)
        message = _("%(addon)s was granted to %(name)s.") if granted else _("%(name)s holds %(addon)s already.")
        return self.done(message % {"addon": addon.name, "name": self.workspace.name}, PAGE, self.workspace.uuid)


class AddonRevoke(OneSubAccount, FormPage[ConfirmationForm]):
    addon: Addon

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        found = with_id(Addon.objects.filter(agency=self.agency, held_by__workspace=self.workspace), ids["addon"])
        if found is None:
            raise AddonNotFound
        self.addon = found

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        revoke_addon(workspace=self.workspace, addon=self.addon, now=timezone.now(), by=self.by)
        message = _("%(addon)s was revoked from %(name)s.") % {"addon": self.addon.name, "name": self.workspace.name}
        return self.done(message, PAGE, self.workspace.uuid)

    def context(self) -> dict[str, Any]:
        names = {"addon": self.addon.name, "name": self.workspace.name}
        return {
            "crumbs": self.crumbs(),
            "heading": _("Revoke %(addon)s from %(name)s?") % names,
            "text": _("Its limits are taken away at once. What is in use beyond them stays, but nothing can be added."),
            "submit": _("Revoke add-on"),
            "danger": True,
        }
