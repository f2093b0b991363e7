"""The dashboard's home page with its set-up steps, the activity log, notifications, help and saved views."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry, User
from agency.models.records import BY_AGENCY_OR_SUPPORT
from agency.notification_kinds import NotificationKind
from agency.pages import tables
from agency.pages.activity import MOST_OFFERED, ActorFilter, actors, filter_entries, filters_by, grouped
from agency.pages.help import DASHBOARD, GuideListPage, GuidePage
from agency.pages.notifications import TITLE, NotificationListPage, NotificationSettingsPage, NotificationsReadPage
from agency.pages.pagination import keyset_page
from agency.pages.registry import Alert
from agency.pages.search import MOST_SHOWN, MOST_SUGGESTED, SearchGroup, read_query
from agency.pages.tables import Column, ListPage, Table
from agency.services.activity import actions_recorded_in
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.pages.connecting import connect_page_for
from workspaces.subaccounts.pages.home import sections_of
from workspaces.subaccounts.pages.menu import NOTIFICATIONS
from workspaces.subaccounts.pages.panels import LimitUsage, limit_usages
from workspaces.subaccounts.pages.registry import SetUpStep, checklist_of, concerns_of_workspace
from workspaces.subaccounts.pages.search import find_in_workspace
from workspaces.subaccounts.services import change_workspace

HOME = "app:home"


class Home(DashboardView):
    """Shows warnings, the day's work, the set-up steps, and how much of the plan is used."""

    nav = HOME

    def get(self, request: HttpRequest) -> HttpResponse:
        used = limit_usages(self.workspace)
        hidden = self.workspace.first_steps_hidden
        return self.page(
            "subaccounts/dashboard/home.html",
            concerns=[*concerns_of_workspace(self.workspace), *_reached(used)],
            checklist=None if hidden else checklist_of(self.workspace),
            sections=sections_of(self.workspace, timezone.now()),
            used=[one for one in used if one.used],
            unused=[one for one in used if one.allowed and not one.used],
            plan=self.workspace.plan,
        )


def _reached(used: list[LimitUsage]) -> Iterator[Alert]:
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


MOST_NAMED = 3


def channel_step(workspace: Workspace) -> Iterator[SetUpStep]:
    """Put the channel first, because every other step needs one."""
    page = connect_page_for(workspace)
    by_agency = _("WhatsApp, Instagram, Messenger … %(agency)s connects it for you.")
    yield SetUpStep(
        title=_("Connect a channel"),
        text=_("WhatsApp, Instagram or Messenger.") if page else by_agency % {"agency": workspace.agency.name},
        url=reverse(page.url_name if page else "app:channels"),
        action=_("Connect") if page else _("Channels"),
        is_done=workspace.channels.filter(status=Channel.Status.ACTIVE).exists(),
    )


def broken_channels(workspace: Workspace) -> Iterator[Alert]:
    """Name a few channels whose connection the provider has closed."""
    broken = workspace.channels.filter(status=Channel.Status.ERROR).order_by("id")
    for name in broken.values_list("name", flat=True)[:MOST_NAMED]:
        yield Alert(
            text=_("%(channel)s is disconnected. No messages come in or go out until it is connected again.")
            % {"channel": name},
            url=reverse("app:channels"),
            action=_("Channels"),
        )


WORKSPACE_ACTOR_KINDS: Final = frozenset({"workspace_key", "customer", "automation"})
# Entries that show their actor's own name. `ActivityNames.is_own` is the same rule for one entry.
BY_THE_WORKSPACE: Final = ~Q(acting_for="") | Q(of_workspace=True) | Q(actor_kind__in=sorted(WORKSPACE_ACTOR_KINDS))
ACTOR_FILTERS: Final = (
    ActorFilter("people", gettext_lazy("People"), Q(actor_kind="user", of_workspace=True)),
    ActorFilter("key", gettext_lazy("API key"), Q(actor_kind="workspace_key")),
    ActorFilter("connect", gettext_lazy("Connect page"), Q(actor_kind="customer")),
    ActorFilter("automation", gettext_lazy("Automation"), Q(actor_kind="automation")),
    ActorFilter("agency", gettext_lazy("Agency"), BY_AGENCY_OR_SUPPORT),
    ActorFilter("system", gettext_lazy("Automatic"), Q(actor_kind="system")),
)
ACTIVITY_FILTERS: Final = filters_by(ACTOR_FILTERS)


@dataclass(frozen=True, slots=True)
class ActivityNames:
    """The names in the log: the workspace's people and keys by their own names, agency staff by the agency's name.

    The fields stored with each entry decide, so that names stay the same when somebody leaves a team or the workspace
    moves. Agency staff who opened the dashboard as customer appear with their own name and the agency's.
    """

    workspace: Workspace

    def is_own(self, entry: ActivityEntry) -> bool:
        """Say whether the workspace's people, keys, customers or automations made it, or agency staff as customer."""
        return bool(entry.acting_for) or entry.of_workspace or entry.actor_kind in WORKSPACE_ACTOR_KINDS

    def of_actor(self, entry: ActivityEntry) -> str:
        agency = (entry.agency or self.workspace.agency).name
        if entry.acting_for:
            return _("%(person)s (%(agency)s) as customer") % {"person": entry.actor_label, "agency": agency}
        if entry.actor_kind == "system":
            return _("Automatic")
        return entry.actor_label if self.is_own(entry) else agency

    def of_target(self, entry: ActivityEntry) -> str:
        """Name the changed object; empty for changes of the agency, and for the workspace, which the page is about."""
        return entry.target_name if self.is_own(entry) and entry.target_kind != "workspace" else ""


def entries_of(workspace: Workspace, asked: Mapping[str, str], *, now: datetime) -> "QuerySet[ActivityEntry]":
    """Give a workspace's entries that match all filters; a period ends now.

    The filters by person and object search only entries that show both, so that nobody can guess hidden names.
    """
    entries = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid).select_related("agency")
    if asked.get("person") or asked.get("object"):
        entries = entries.filter(BY_THE_WORKSPACE)
    return filter_entries(entries, asked, ACTOR_FILTERS, now=now)


class Activity(ListPage, DashboardView):
    """Shows no network addresses. Of a change from the agency's console it shows the action and the agency's name."""

    nav = "app:activity"
    table = Table(
        caption=gettext_lazy("Changes, newest first"),
        columns=(
            Column(name="what", label=gettext_lazy("Action")),
            Column(name="of", label=gettext_lazy("Item")),
            Column(name="by", label=gettext_lazy("By")),
            Column(name="when", label=gettext_lazy("When")),
        ),
        filters=ACTIVITY_FILTERS,
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        workspace = self.workspace
        owner = User.objects.filter(pk=workspace.owner_id).values_list("email", flat=True)
        people = owner.union(workspace.members.values_list("user__email", flat=True))[:MOST_OFFERED]
        by = actors(request.GET.get("person", "").strip(), _("People"), people, workspace.keys.all())
        state = self.read_table(groups={"action": grouped(actions_recorded_in(workspace.uuid)), "person": by})
        state.show_keyset(keyset_page(request, entries_of(workspace, state.values, now=timezone.now())))
        names = ActivityNames(workspace)
        state.rows = [
            (one, names.of_actor(one), names.of_target(one), one.actor_label if names.is_own(one) else "")
            for one in state.rows
        ]
        return self.list_page("subaccounts/dashboard/activity.html", state)


class DashboardNotificationPage(DashboardView):
    """Every user has their own notifications. Agency staff who opened the dashboard get none here."""

    nav = NOTIFICATIONS

    @property
    def notification_kinds(self) -> list[NotificationKind]:
        return self.area_notification_kinds

    @property
    def notification_role(self) -> str:
        return self.current.role


class Notifications(DashboardNotificationPage, NotificationListPage):
    """The list of the user's notifications."""


class NotificationsRead(DashboardNotificationPage, NotificationsReadPage):
    form_page = NOTIFICATIONS


class NotificationSettings(DashboardNotificationPage, NotificationSettingsPage):
    def context(self) -> dict[str, object]:
        return {**super().context(), "crumbs": [(TITLE, reverse(NOTIFICATIONS))]}


class DashboardHelpPage(DashboardView):
    """A page of the help for customers."""

    nav = "app:help"
    help_area = DASHBOARD

    @property
    def helping_agency(self) -> str:
        return self.current.agency.name


class Help(DashboardHelpPage, GuideListPage):
    """The list of guides."""


class HelpGuide(DashboardHelpPage, GuidePage):
    """One guide."""


# Each saved view belongs to one user.


class SavedViewNew(tables.SavedViewNew, DashboardView):
    form_page = "app:home"


class SavedViewRemove(tables.SavedViewRemove, DashboardView):
    form_page = "app:home"


# Search --------------------------------------------------------------------------------------------


class Find(DashboardView):
    """All results on a page; its form needs no script."""

    nav = "app:find"
    most = MOST_SHOWN

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        return self.page("agency/find/page.html", query=query, groups=groups)

    def found(self) -> tuple[str, list[SearchGroup]]:
        query = read_query(self.request.GET.get("q", ""))
        return query, find_in_workspace(self.workspace, query, most=self.most)


class FindSuggestions(Find):
    """The first results of each kind as options of a list, for the palette that searches as a person types."""

    most = MOST_SUGGESTED

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        shown = {"query": query, "groups": groups, "number": sum(len(one.items) for one in groups)}
        return render(request, "agency/find/_options.html", shown)
