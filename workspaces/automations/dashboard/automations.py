"""The dashboard's pages about automations: the list, one automation, its switch, and the prerequisites."""

from collections.abc import Mapping
from datetime import UTC
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.limits import CHANNEL_TYPES
from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.pagination import read_pages
from agency.pages.tables import Choices, Column, Filter, ListPage, Table, TableState
from config.api.filters import ChoiceFilter, FilterSet, TextFilter, UUIDFilter
from config.api.requests import NothingMatches, QueryParameters, parse_uuid
from workspaces.automations.dashboard.forms import SlotForm
from workspaces.automations.dashboard.notices import notices_of
from workspaces.automations.flows.flow import open_slots, settings_used, trigger_label
from workspaces.automations.flows.presentation import ChatLine, chat_preview, summarize
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.models import Automation
from workspaces.automations.services import (
    AutomationNotFound,
    Capabilities,
    NotReady,
    SlotRefused,
    capabilities_of,
    disable_automation,
    enable_automation,
    fill_slots,
    met_requirements,
    reasons_barred,
    reasons_beyond_slots,
    reasons_not_ready,
    remove_automation,
    requirement_url_name,
)
from workspaces.automations.services.conflicts import overlap_warnings
from workspaces.automations.services.drafts import has_unpublished_changes
from workspaces.automations.services.run_control import stop_runs_of_automation
from workspaces.automations.services.run_counts import automation_numbers
from workspaces.automations.services.switching import MOST_AT_ONCE, disabled_automations, enable_ready_automations
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES

LIST = "app:automations"
ONE = "app:automation"


class AutomationDetail(DashboardView):
    """A page about one automation of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    automation: Automation

    def find(self, **ids: UUID | None) -> None:
        rows = self.workspace.automations.select_related("published")
        found = rows.filter(uuid=ids["uuid"]).first() if ids["uuid"] else None
        if found is None:
            raise AutomationNotFound
        found.workspace = self.workspace
        self.automation = found

    def switch_on(self) -> HttpResponse:
        """Switch the automation on, or show on its page what is missing."""
        try:
            enable_automation(automation=self.automation, now=timezone.now(), by=self.by)
        except NotReady as error:
            message = _("It cannot be switched on yet: %(reasons)s") % {"reasons": " ".join(error.reasons)}
            messages.error(self.request, message)
            return redirect(ONE, self.automation.uuid)
        for warning in overlap_warnings(self.automation):
            messages.warning(self.request, warning)
        return self.done(_("%(name)s is on.") % {"name": self.automation.name}, ONE, self.automation.uuid)


class AutomationPage(AutomationDetail, DashboardForm[SlotForm]):
    """Shows what the automation needs, saves the customer's answers, and switches it on if they ask for it."""

    template_name = "automations/automation.html"
    chat: list[ChatLine]

    @cached_property
    def capabilities(self) -> Capabilities:
        return capabilities_of(self.workspace)

    def make_form(self, data: Mapping[str, object] | None = None) -> SlotForm:
        return SlotForm(data, automation=self.automation)

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        """Save the form. A preview or a search of choices saves nothing and shows the form again as typed."""
        if not self.only_looks(request):
            return super().post(request, **ids)
        self.find(**ids)
        mark_form_redisplayed(request)
        return self.show(SlotForm(automation=self.automation, typed=request.POST))

    def only_looks(self, request: HttpRequest) -> bool:
        return "search" in request.POST or "preview" in request.POST

    def show(self, form: SlotForm, *, status: int = 200) -> HttpResponse:
        """Show the form with a preview of the chat that uses the form's values."""
        self.chat = chat_preview(form.flow_as_typed(), settings=self.capabilities.settings, names=form.pickers.name_of)
        return super().show(form, status=status)

    def save(self, form: SlotForm) -> HttpResponse:
        filled, values = self.automation, form.changes()
        try:
            if values or filled.published is None:
                filled = fill_slots(automation=filled, values=values, now=timezone.now(), by=self.by)
        except SlotRefused as error:
            form.add_refusal(error)
            return self.show(form, status=422)
        if self.request.POST.get("then") == "on":
            return self.switch_on()
        left = len(open_slots(filled.draft, filled.slots))
        message = _("Saved. %(left)s still to fill in.") % {"left": left} if left else _saved(filled)
        return self.done(message, ONE, self.automation.uuid)

    def context(self) -> dict[str, object]:
        automation, capabilities = self.automation, self.capabilities
        barred = reasons_barred(automation)
        return {
            "automation": automation,
            "trigger": _(trigger_label(automation.draft)),
            "channel": CHANNEL_NAMES[automation.platform],
            "steps": summarize(automation.draft, capabilities.settings),
            "barred": barred,
            "missing": reasons_not_ready(automation, capabilities)[len(barred) :],
            "may_be_switched_on": not (barred or reasons_beyond_slots(automation, capabilities)),
            "overlaps": [] if barred else overlap_warnings(automation),
            "prerequisites": prerequisites(automation, capabilities),
            "settings_missing": any(not capabilities.settings[name] for name in settings_used(automation.draft)),
            "chat": self.chat,
            "numbers": automation_numbers(automation, timezone.now().astimezone(UTC).date())
            if automation.published
            else None,
            "has_active_runs": automation.enabled and automation.runs.active().exists(),
            "has_unpublished_changes": has_unpublished_changes(automation),
            "open_slot_count": len(open_slots(automation.draft, automation.slots)),
            "notices": notices_of([automation]).get(automation.pk, []),
        }


def _saved(automation: Automation) -> str:
    if has_unpublished_changes(automation):
        return _("Saved. It runs with your changes once you publish them.")
    return _("Saved. Everything is filled in.")


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
        (_(REQUIREMENTS[name]), name in capabilities.met, requirement_url_name(name)) for name in automation.requires
    ]


class AutomationOn(AutomationDetail):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self.switch_on()


class AutomationOff(AutomationDetail):
    """Switches an automation off. Runs that are under way go on, unless the second button was pressed."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        now, name = timezone.now(), self.automation.name
        disable_automation(automation=self.automation, now=now, by=self.by)
        if "stop_runs" not in request.POST:
            return self.done(_("%(name)s is off.") % {"name": name}, ONE, self.automation.uuid)
        number = stop_runs_of_automation(automation=self.automation, now=now)
        message = ngettext(
            "%(name)s is off, and %(number)s run was stopped.",
            "%(name)s is off, and %(number)s runs were stopped.",
            number,
        )
        return self.done(message % {"name": name, "number": number}, ONE, self.automation.uuid)


class AutomationRemove(AutomationDetail):
    """Removes an automation after a question. An automation from a pack can be added again."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self.page("automations/remove.html", automation=self.automation)

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        remove_automation(automation=self.automation, by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": self.automation.name}, LIST)


ON, OFF, READY, INCOMPLETE = "on", "off", "ready", "incomplete"
STATES: Final = (
    (ON, gettext_lazy("On")),
    (OFF, gettext_lazy("Off")),
    (READY, gettext_lazy("Off, ready to switch on")),
    (INCOMPLETE, gettext_lazy("Off, with things to do first")),
)
# The filters by readiness check each automation that is off. Of a longer list they check only the first ones.
MOST_JUDGED: Final = 500
MOST_PACKS: Final = 200


class AutomationListFilterSet(FilterSet):
    """What narrows the dashboard's list; whether an automation that is off is ready is no condition of its row."""

    search = TextFilter(field_name="name", lookup_expr="icontains")
    channel = ChoiceFilter(field_name="platform", choices=[(kind, kind) for kind in CHANNEL_TYPES])
    pack = UUIDFilter(field_name="from_pack")


class Automations(ListPage, DashboardView):
    """Lists all automations, newest first, each with the number of things that it still needs."""

    nav = "app:automations"
    # An index serves the order by age. The orders by name and by change sort the rows of one workspace.
    table = Table(
        caption=gettext_lazy("Automations"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name", "id")),
            Column(name="channel", label=gettext_lazy("Channel"), order=("platform", "-created_at", "-id")),
            Column(name="state", label=gettext_lazy("State")),
            Column(name="changed", label=gettext_lazy("Changed"), order=("updated_at", "id"), descends_first=True),
        ),
        filters=(
            Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name")),
            Filter(name="state", label=gettext_lazy("State"), is_choice=True, choices=STATES),
            Filter(
                name="channel",
                label=gettext_lazy("Channel"),
                is_choice=True,
                choices=[(kind, capfirst(name)) for kind, name in CHANNEL_NAMES.items()],
            ),
            Filter(name="pack", label=gettext_lazy("Pack"), is_choice=True),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, capabilities = self.read_table({"pack": self._packs()}), capabilities_of(self.workspace)
        automations: QuerySet[Automation] = self.workspace.automations.select_related("published")
        rows = automations.order_by(*(state.order or ("-created_at", "-id")))
        try:
            rows = AutomationListFilterSet.apply(QueryParameters.of(request), rows)
        except NothingMatches:
            rows = rows.none()
        asked = state.values["state"]
        if asked in (ON, OFF):
            rows = rows.filter(enabled=asked == ON)
        if asked in (READY, INCOMPLETE):
            self._fetch_judged(state, rows.filter(enabled=False), capabilities)
        else:
            state.fetch(rows)
        for row in state.rows:
            row.workspace = self.workspace
        notices = notices_of(state.rows)
        listed = [
            (
                row,
                CHANNEL_NAMES[row.platform],
                reasons_not_ready(row, capabilities),
                bool(reasons_barred(row)),
                notices.get(row.pk, []),
            )
            for row in state.rows
        ]
        state.rows = listed
        ready_count = sum(not row.enabled and not missing for row, _, missing, *_ in listed)
        return self.list_page("automations/automations.html", state, ready_count=ready_count)

    def _fetch_judged(self, state: TableState, off: "QuerySet[Automation]", capabilities: Capabilities) -> None:
        """Fetch the automations that are ready, or those that are not, by the list's filter."""
        judged = list(off[: MOST_JUDGED + 1])
        is_ready = state.values["state"] == READY
        kept = [one for one in judged[:MOST_JUDGED] if is_ready != bool(reasons_not_ready(one, capabilities))]
        pages = read_pages(self.request, len(kept), len(judged) > MOST_JUDGED)
        state.show(kept[pages.offset : pages.offset + pages.size], pages)

    def _packs(self) -> Choices:
        """Give the packs that the automations came from, by name."""
        named = self.workspace.automations.filter(from_pack__isnull=False).order_by("from_pack_name", "from_pack")
        found = named.values_list("from_pack", "from_pack_name").distinct()[:MOST_PACKS]
        return [*{str(uuid): name for uuid, name in found}.items()]


PREREQUISITES_PAGE = "app:prerequisites"


class Prerequisites(DashboardView):
    """Shows which prerequisites of automations the workspace meets, and where the others can be met."""

    nav = PREREQUISITES_PAGE

    def get(self, request: HttpRequest) -> HttpResponse:
        met = met_requirements(self.workspace)
        found = [(_(label), name in met, requirement_url_name(name)) for name, label in REQUIREMENTS.items()]
        return self.page("automations/prerequisites.html", prerequisites=found)


ENABLE_READY_PAGE = "app:automations-ready"


class AutomationsReady(DashboardView):
    """Shows which automations are ready, and why the others are not. Switches on those that stay selected."""

    nav = LIST
    keeps_form_data = True

    def get(self, request: HttpRequest) -> HttpResponse:
        off = disabled_automations(self.workspace)
        ready = [(one, CHANNEL_NAMES[one.platform]) for one in off.ready]
        return self.page("automations/ready.html", ready=ready, waiting=off.waiting)

    def post(self, request: HttpRequest) -> HttpResponse:
        sent = request.POST.getlist("automation")[:MOST_AT_ONCE]
        chosen = {found for one in sent if (found := parse_uuid(one))}
        if not chosen:
            messages.warning(request, _("Choose at least one automation."))
            return redirect(ENABLE_READY_PAGE)
        done = enable_ready_automations(workspace=self.workspace, chosen=chosen, now=timezone.now(), by=self.by)
        for automation, reasons in done.refused:
            messages.warning(request, f"{automation.name}: {' '.join(reasons)}")
        number = len(done.on)
        if not number:
            messages.warning(request, _("Nothing was switched on."))
            return redirect(ENABLE_READY_PAGE)
        message = ngettext("%(number)s automation is on now.", "%(number)s automations are on now.", number)
        return self.done(message % {"number": number}, LIST)


urlpatterns = [
    path("automations", Automations.as_view(), name="automations"),
    path("automations/ready", AutomationsReady.as_view(), name="automations-ready"),
    path("automations/<id:uuid>", AutomationPage.as_view(), name="automation"),
    path("automations/<id:uuid>/on", AutomationOn.as_view(), name="automation-on"),
    path("automations/<id:uuid>/off", AutomationOff.as_view(), name="automation-off"),
    path("automations/<id:uuid>/remove", AutomationRemove.as_view(), name="automation-remove"),
    path("prerequisites", Prerequisites.as_view(), name="prerequisites"),
]
