"""The page that switches on all automations that are ready."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.api.requests import parse_uuid
from workspaces.automations.services.switching_many import MOST_AT_ONCE, off_automations, switch_on_ready
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES

LIST = "app:automations"
PAGE = "app:automations-ready"


class AutomationsReady(DashboardView):
    """Shows which automations are ready, and why the others are not. Switches on those that stay ticked."""

    nav = LIST
    keeps_form_data = True

    def get(self, request: HttpRequest) -> HttpResponse:
        off = off_automations(self.workspace)
        ready: list[Any] = [(one, CHANNEL_NAMES[one.platform]) for one in off.ready]
        return self.page("automations/ready.html", ready=ready, waiting=off.waiting)

    def post(self, request: HttpRequest) -> HttpResponse:
        sent = request.POST.getlist("automation")[:MOST_AT_ONCE]
        chosen = {found for one in sent if (found := parse_uuid(one))}
        if not chosen:
            messages.warning(request, _("Choose at least one automation."))
            return redirect(PAGE)
        done = switch_on_ready(workspace=self.workspace, chosen=chosen, now=timezone.now(), by=self.by)
        for automation, reasons in done.refused:
            messages.warning(request, f"{automation.name}: {' '.join(reasons)}")
        number = len(done.on)
        if not number:
            messages.warning(request, _("Nothing was switched on."))
            return redirect(PAGE)
        message = ngettext("%(number)s automation is on now.", "%(number)s automations are on now.", number)
        return self.done(message % {"number": number}, LIST)
