"""The page of one automation: what it still needs, switching it on and off, removing it."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from agency.pages.invalid_forms import mark_form_redisplayed
from workspaces.automations.dashboard.forms import SlotForm
from workspaces.automations.flows.flow import trigger_label
from workspaces.automations.flows.presentation.chat import Bubble, chat_of
from workspaces.automations.flows.presentation.summary import summarize
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.flows.settings import settings_used
from workspaces.automations.flows.slots import open_slots
from workspaces.automations.models import Automation
from workspaces.automations.services import (
    AutomationNotFound,
    Capabilities,
    NotReady,
    SlotRefused,
    asked_requirements,
    capabilities_of,
    change_readiness,
    fill_slots,
    page_of_requirement,
    reasons_beyond_slots,
    reasons_not_ready,
    remove_automation,
    switch_off,
    switch_on,
)
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES

LIST = "app:automations"
ONE = "app:automation"


class OneAutomation(DashboardView):
    """A page about one automation of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    automation: Automation

    def find(self, **ids: Any) -> None:
        rows = self.workspace.automations.select_related("published")
        found = rows.filter(uuid=ids["uuid"]).first() if ids["uuid"] else None
        if found is None:
            raise AutomationNotFound
        found.workspace = self.workspace
        self.automation = found

    def switch_on(self) -> HttpResponse:
        """Switch the automation on, or show on its page what is missing."""
        try:
            switch_on(automation=self.automation, now=timezone.now(), by=self.by)
        except NotReady as error:
            message = _("It cannot be switched on yet: %(reasons)s") % {"reasons": " ".join(error.reasons)}
            messages.error(self.request, message)
            return redirect(ONE, self.automation.uuid)
        return self.done(_("%(name)s is on.") % {"name": self.automation.name}, ONE, self.automation.uuid)


class AutomationPage(OneAutomation, DashboardForm[SlotForm]):
    """Shows what the automation needs, saves the customer's answers, and switches it on if they ask for it."""

    template_name = "automations/automation.html"
    chat: list[Bubble]

    @cached_property
    def capabilities(self) -> Capabilities:
        return capabilities_of(self.workspace)

    def make_form(self, data: Any = None) -> SlotForm:
        return SlotForm(data, automation=self.automation, met=self.capabilities.met)

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        """Save the form. A preview or a search of choices saves nothing and shows the form again as typed."""
        if not self.only_looks(request):
            return super().post(request, **ids)
        self.find(**ids)
        mark_form_redisplayed(request)
        return self.show(SlotForm(automation=self.automation, met=self.capabilities.met, typed=request.POST))

    def only_looks(self, request: HttpRequest) -> bool:
        return "search" in request.POST or "preview" in request.POST

    def show(self, form: SlotForm, *, status: int = 200) -> HttpResponse:
        """Show the form with a preview of the chat that uses the form's values."""
        self.chat = chat_of(form.flow_as_typed(), settings=self.capabilities.settings, names=form.pickers.name_of)
        return super().show(form, status=status)

    def save(self, form: SlotForm) -> HttpResponse:
        filled, values = self.automation, form.changes()
        try:
            if values or filled.published is None:
                filled = fill_slots(automation=filled, values=values, now=timezone.now(), by=self.by)
        except SlotRefused as error:
            form.add_refusal(error)
            return self.show(form, status=422)
        if form.readiness():
            change_readiness(workspace=self.workspace, by=self.by, **form.readiness())
        if self.request.POST.get("then") == "on":
            return self.switch_on()
        left = len(open_slots(filled.draft, filled.slots))
        message = (
            _("Saved. %(left)s still to fill in.") % {"left": left} if left else _("Saved. Everything is filled in.")
        )
        return self.done(message, ONE, self.automation.uuid)

    def _reasons_beyond_the_form(self) -> list[str]:
        """Give the reasons that this page's inputs and checkboxes cannot solve."""
        asked = {*self.automation.requires} & {*asked_requirements()}
        told = replace(self.capabilities, met=self.capabilities.met | asked)
        return reasons_beyond_slots(self.automation, told)

    def context(self) -> dict[str, Any]:
        automation, capabilities = self.automation, self.capabilities
        return {
            "automation": automation,
            "trigger": _(trigger_label(automation.draft)),
            "channel": CHANNEL_NAMES[automation.platform],
            "steps": summarize(automation.draft, capabilities.settings),
            "missing": reasons_not_ready(automation, capabilities),
            "may_be_switched_on": not self._reasons_beyond_the_form(),
            "prerequisites": prerequisites(automation, capabilities),
            "settings_missing": any(not capabilities.settings[name] for name in settings_used(automation.draft)),
            "chat": self.chat,
            "open_slot_count": len(open_slots(automation.draft, automation.slots)),
        }


def prerequisites(automation: Automation, capabilities: Capabilities) -> list[tuple[str, bool, str]]:
    """Give each prerequisite: its label, whether the workspace meets it, and the page where it can be met."""
    platform = automation.platform
    channel = [
        (
            _("a %(channel)s channel that works") % {"channel": CHANNEL_NAMES[platform]},
            platform in capabilities.platforms,
            "app:channels",
        )
    ]
    return channel + [
        (_(REQUIREMENTS[name]), name in capabilities.met, page_of_requirement(name)) for name in automation.requires
    ]


class AutomationOn(OneAutomation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self.switch_on()


class AutomationOff(OneAutomation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        switch_off(automation=self.automation, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s is off.") % {"name": self.automation.name}, ONE, self.automation.uuid)


class AutomationRemove(OneAutomation):
    """Removes an automation after a question. An automation from a pack can be added again."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self.page("automations/remove.html", automation=self.automation)

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        remove_automation(automation=self.automation, by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": self.automation.name}, LIST)
