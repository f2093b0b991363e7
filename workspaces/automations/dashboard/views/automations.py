"""The automations of a workspace: what each still needs, and switching them on and off."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.pages.lists import paged
from workspaces.automations.dashboard.forms import SlotForm
from workspaces.automations.flows.flow import trigger_label
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.flows.slots import open_slots
from workspaces.automations.flows.summary import summarize
from workspaces.automations.models import Automation
from workspaces.automations.services import (
    AutomationNotFound,
    Capabilities,
    NotReady,
    SlotRefused,
    capabilities_of,
    fill_slots,
    reasons_not_ready,
    remove_automation,
    switch_off,
    switch_on,
)
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES

LIST = "app:automations"
ONE = "app:automation"


class Automations(DashboardView):
    """All automations, the newest first, each with the number of things that it still needs."""

    nav = LIST

    def get(self, request: HttpRequest) -> HttpResponse:
        rows, pages = paged(request, self.workspace.automations.order_by("-created_at", "-id"))
        capabilities = capabilities_of(self.workspace)
        listed = [(row, CHANNEL_NAMES[row.platform], reasons_not_ready(row, capabilities)) for row in rows]
        return self.page("automations/automations.html", rows=listed, pages=pages)


class OneAutomation(DashboardView):
    """A page about one automation of the workspace; malformed, unknown and foreign ids read alike."""

    nav = LIST

    def find(self, uuid: UUID | None) -> Automation:
        rows = self.workspace.automations.select_related("published")
        found = rows.filter(uuid=uuid).first() if uuid else None
        if found is None:
            raise AutomationNotFound
        found.workspace = self.workspace
        return found


class AutomationPage(OneAutomation):
    """Shows what the automation needs and takes what the customer fills into its slots."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        automation = self.find(uuid)
        return self._show(automation, SlotForm(automation=automation))

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        automation = self.find(uuid)
        form = SlotForm(request.POST, automation=automation)
        if not form.is_valid():
            return self._show(automation, form, status=422)
        try:
            filled = fill_slots(automation=automation, values=form.changes(), now=timezone.now(), by=self.by)
        except SlotRefused as error:
            form.add_refusal(error)
            return self._show(automation, form, status=422)
        left = len(open_slots(filled.draft, filled.slots))
        message = (
            _("Saved. %(left)s still to fill in.") % {"left": left} if left else _("Saved. Everything is filled in.")
        )
        return self.done(message, ONE, automation.uuid)

    def _show(self, automation: Automation, form: SlotForm, status: int = 200) -> HttpResponse:
        capabilities = capabilities_of(self.workspace)
        return self.page(
            "automations/automation.html",
            status=status,
            automation=automation,
            trigger=trigger_label(automation.draft),
            channel=CHANNEL_NAMES[automation.platform],
            form=form,
            steps=summarize(automation.draft),
            missing=reasons_not_ready(automation, capabilities),
            prerequisites=prerequisites(automation, capabilities),
            open_slot_count=len(open_slots(automation.draft, automation.slots)),
        )


def prerequisites(automation: Automation, capabilities: Capabilities) -> list[tuple[str, bool]]:
    """Give what the workspace must have, as people read it, and whether it has it."""
    channel: list[Any] = [
        (f"a {CHANNEL_NAMES[automation.platform]} channel that works", automation.platform in capabilities.platforms)
    ]
    return channel + [(REQUIREMENTS[name], name in capabilities.met) for name in automation.requires]


class AutomationOn(OneAutomation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        automation = self.find(uuid)
        try:
            switch_on(automation=automation, now=timezone.now(), by=self.by)
        except NotReady as error:
            messages.error(
                request, _("It cannot be switched on yet: %(reasons)s") % {"reasons": " ".join(error.reasons)}
            )
            return redirect(ONE, automation.uuid)
        return self.done(_("%(name)s is on.") % {"name": automation.name}, ONE, automation.uuid)


class AutomationOff(OneAutomation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        automation = self.find(uuid)
        switch_off(automation=automation, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s is off.") % {"name": automation.name}, ONE, automation.uuid)


class AutomationRemove(OneAutomation):
    """Asks first; what came from a pack can be added again."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        return self.page("automations/remove.html", automation=self.find(uuid))

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        automation = self.find(uuid)
        remove_automation(automation=automation, by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": automation.name}, LIST)
