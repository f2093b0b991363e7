"""The dashboard's pages about runs: their list, one run with its steps, and the buttons that stop and retry it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from agency.pages.branding import in_page_language
from agency.pages.pagination import keyset_page, with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from config.api.requests import is_storable
from config.db import like_pattern, name_key
from config.errors import Conflict
from workspaces.automations.dashboard.automations import LIST, AutomationDetail
from workspaces.automations.dashboard.run_texts import run_reason, step_detail
from workspaces.automations.flows.presentation import node_title, port_label
from workspaces.automations.models import AutomationRun, AutomationVersion
from workspaces.automations.services.run_control import RunNotFound, retry_run, stop_run
from workspaces.automations.services.shown_runs import ShownRun, ShownStep, shown_run, shown_runs
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message
from workspaces.subaccounts.dashboard.base import DashboardView

RUNS = "app:automation-runs"
RUN = "app:automation-run"
LONGEST_SEARCH: Final = 100
Status = AutomationRun.Status
BADGES: Final = {Status.COMPLETED: "good", Status.FAILED: "bad"}
STARTERS: Final = {
    "workspace_key": gettext_noop("an API key"),
    "automation": gettext_noop("another automation"),
    "contact": gettext_noop("the contact"),
    "system": gettext_noop("the system"),
}
OUTCOMES: Final = {
    "waiting": gettext_noop("waited here"),
    "ended": gettext_noop("the run ended here"),
    "failed": gettext_noop("failed here"),
}


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run for people: where it is, its state with a reason, and the colour of its badge."""

    shown: ShownRun
    place: str
    reason: str
    badge: str

    @property
    def run(self) -> AutomationRun:
        return self.shown.run

    @property
    def is_active(self) -> bool:
        return self.run.status in AutomationRun.ACTIVE


def run_lines(runs: Sequence[ShownRun]) -> list[RunLine]:
    """Describe runs. Each version's flow is read once."""
    versions = AutomationVersion.objects.in_bulk({one.run.version_id for one in runs})
    return [
        RunLine(
            one,
            node_title(versions[one.run.version_id].flow, one.run.error_node or one.run.node),
            run_reason(one.run),
            BADGES.get(Status(one.run.status), ""),
        )
        for one in runs
    ]


class AutomationRuns(ListPage, AutomationDetail):
    """Lists the runs of an automation, newest first. The list is not counted, because it can be long."""

    table = Table(
        caption=gettext_lazy("Runs, the newest first"),
        columns=(
            Column(name="contact", label=gettext_lazy("Contact")),
            Column(name="state", label=gettext_lazy("State")),
            Column(name="place", label=gettext_lazy("Last step")),
            Column(name="started", label=gettext_lazy("Started")),
        ),
        filters=(
            Filter(
                name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name, phone number or e-mail")
            ),
            Filter(name="state", label=gettext_lazy("State"), is_choice=True, choices=Status.choices),
        ),
    )

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        state = self.read_table()
        rows = AutomationRun.objects.of(self.workspace).filter(automation=self.automation)
        page = keyset_page(request, self._narrowed(rows, state.values))
        state.show_keyset(page)
        state.rows = run_lines(shown_runs(page.rows))
        return self.list_page("automations/runs.html", state, automation=self.automation)

    def _narrowed(self, rows: "QuerySet[AutomationRun]", asked: Mapping[str, str]) -> "QuerySet[AutomationRun]":
        if asked["state"]:
            rows = rows.filter(status=asked["state"]) if asked["state"] in Status.values else rows.none()
        if asked["search"]:
            text = asked["search"][:LONGEST_SEARCH]
            found = Contact.objects.of(self.workspace).filter(search_key__like=like_pattern(name_key(text)))
            rows = rows.filter(contact_id__in=found.values("pk")) if is_storable(text) else rows.none()
        return rows


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step of a run for people. `message_url` leads to the message that it sent."""

    title: str
    outcome: str
    detail: str
    at: datetime
    message_url: str = ""


class RunDetail(DashboardView):
    """A page about one run of an automation of the workspace."""

    nav = LIST
    form_page = RUN
    run: AutomationRun

    def find(self, uuid: UUID | None, run: UUID | None) -> None:
        rows = AutomationRun.objects.of(self.workspace).select_related("automation", "version")
        found = with_id(rows.filter(automation__uuid=uuid), run) if uuid else None
        if found is None:
            raise RunNotFound
        found.workspace = found.automation.workspace = self.workspace
        self.run = found


class RunPage(RunDetail):
    """Shows the steps of a run, why they took their ports, and the messages that they sent."""

    def get(self, request: HttpRequest, uuid: UUID | None, run: UUID | None) -> HttpResponse:
        self.find(uuid, run)
        shown = shown_run(self.run)
        [line] = run_lines([shown])
        starter = STARTERS.get(self.run.started_by_kind)
        return self.page(
            "automations/run.html",
            automation=self.run.automation,
            line=line,
            run=self.run,
            contact=shown.contact,
            steps=self._steps(shown.steps),
            starter=self.run.started_by_label or (_(starter) if starter else self.run.started_by_kind),
        )

    def _steps(self, steps: Sequence[ShownStep]) -> list[StepLine]:
        addresses = message_urls([one.message_id for one in steps if one.message_id is not None])
        return [
            StepLine(
                title=node_title(self.run.version.flow, one.node),
                outcome=self._outcome(one),
                detail=step_detail(one.detail),
                at=one.at,
                message_url=addresses.get(one.message_id or 0, ""),
            )
            for one in steps
        ]

    def _outcome(self, step: ShownStep) -> str:
        known = OUTCOMES.get(step.outcome)
        return _(known) if known else port_label(self.run.version.flow, step.node, step.outcome)


def message_urls(messages: Sequence[int]) -> dict[int, str]:
    """Give the address of each of these messages in the inbox."""
    if not messages:
        return {}
    rows = Message.objects.filter(pk__in=messages).values_list("pk", "uuid", "conversation__uuid")
    return {pk: f"{reverse('app:conversation', args=[thread])}#message-{uuid}" for pk, uuid, thread in rows}


class RunStop(RunDetail):
    def post(self, request: HttpRequest, uuid: UUID | None, run: UUID | None) -> HttpResponse:
        self.find(uuid, run)
        try:
            stop_run(run=self.run, by=self.by, now=timezone.now())
        except Conflict as error:
            messages.error(request, in_page_language(error.message))
            return redirect(self.back_to or reverse(RUN, args=[uuid, run]))
        message = _("%(name)s was stopped for this contact.") % {"name": self.run.automation.name}
        return self.done(message, RUN, uuid, run)


class RunRetry(RunDetail):
    def post(self, request: HttpRequest, uuid: UUID | None, run: UUID | None) -> HttpResponse:
        self.find(uuid, run)
        try:
            retry_run(run=self.run, by=self.by, now=timezone.now())
        except Conflict as error:
            messages.error(request, in_page_language(error.message))
            return redirect(RUN, uuid, run)
        return self.done(_("It continues from the step that failed."), RUN, uuid, run)


urlpatterns = [
    path("automations/<id:uuid>/runs", AutomationRuns.as_view(), name="automation-runs"),
    path("automations/<id:uuid>/runs/<id:run>", RunPage.as_view(), name="automation-run"),
    path("automations/<id:uuid>/runs/<id:run>/stop", RunStop.as_view(), name="automation-run-stop"),
    path("automations/<id:uuid>/runs/<id:run>/retry", RunRetry.as_view(), name="automation-run-retry"),
]
