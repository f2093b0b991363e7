"""What sub-accounts add elsewhere: events; the console, the dashboard and the activity log."""

from collections.abc import Iterable
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency import limits
from agency.event_types import EventType, event_types
from agency.models import Agency
from agency.pages.registry import (
    ActivityTarget,
    Concern,
    ConcernSource,
    Figure,
    FigureSource,
    FirstStep,
    MenuEntry,
    Section,
    activity_targets,
    concern_sources,
    console_menu,
    dashboard_menu,
    figure_sources,
    first_steps,
    label_actions,
)
from config.api.serializers import Serializer
from workspaces.subaccounts import events
from workspaces.subaccounts.api.serializers import (
    AddonEventSerializer,
    SubAccountEventSerializer,
    SubscriptionChangedSerializer,
)
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services.near_limits import sub_accounts_near_limits


def _event(
    name: str, label: str, serializer: type[Serializer] = SubAccountEventSerializer, status: str = "active"
) -> EventType:
    """Declare an event about a sub-account; `status` is the sample's."""
    sample = {"workspace": {"name": "Sample sub-account", "status": status}}
    return EventType(name=name, label=label, group="Sub-accounts", serializer=serializer, sample=sample)


EVENTS = (
    _event(events.WORKSPACE_CREATED, "Sub-account created"),
    _event(events.WORKSPACE_SUSPENDED, "Sub-account suspended", status="suspended"),
    _event(events.WORKSPACE_RESTORED, "Sub-account restored"),
    _event(events.SUBSCRIPTION_CHANGED, "Plan changed", SubscriptionChangedSerializer),
    _event(events.ADDON_GRANTED, "Add-on granted", AddonEventSerializer),
    _event(events.ADDON_REVOKED, "Add-on revoked", AddonEventSerializer),
)
RECENTLY = timedelta(days=30)
ACTIONS = {
    "workspace.created": _("Sub-account created"),
    "workspace.changed": _("Sub-account edited"),
    "workspace.owner_replaced": _("Sub-account owner replaced"),
    "workspace.suspended": _("Sub-account suspended"),
    "workspace.restored": _("Sub-account restored"),
    "plan.assigned": _("Plan assigned"),
    "addon.granted": _("Add-on granted"),
    "addon.revoked": _("Add-on revoked"),
    "channel.connected": _("Channel connected"),
    "workspace_key.created": _("Workspace API key created"),
    "workspace_key.revoked": _("Workspace API key revoked"),
}


def figures(agency: Agency) -> Iterable[Figure]:
    """The total comes from the agency's own count."""
    own = Workspace.objects.of(agency)
    most = agency.max_sub_accounts
    yield Figure(
        label=_("Sub-accounts"),
        value=agency.sub_account_count,
        note=_("of %(most)s allowed") % {"most": f"{most:,}"} if most is not None else "",
        url_name="console:sub-accounts",
    )
    yield Figure(
        label=_("New in 30 days"),
        value=own.filter(created_at__gte=timezone.now() - RECENTLY).count(),
        url_name="console:sub-accounts",
    )
    yield Figure(
        label=_("Suspended"),
        value=own.filter(status=Workspace.Status.SUSPENDED).count(),
        url_name="console:sub-accounts",
        query="?status=suspended",
    )


MOST_NAMED = 3


def concerns(agency: Agency) -> Iterable[Concern]:
    """Sub-accounts with a channel that its provider has closed, and those that are at a limit of their channels."""
    broken = Channel.objects.filter(status=Channel.Status.ERROR, workspace__agency=agency)
    columns = ("workspace__name", "workspace__uuid", "name")
    for name, uuid, channel in broken.order_by("workspace", "id").values_list(*columns)[:MOST_NAMED]:
        yield Concern(
            text=_("%(channel)s of %(name)s is broken: its owner has to connect it again.")
            % {"channel": channel, "name": name},
            url=reverse("console:sub-account", args=[uuid]),
            action=_("Sub-account"),
        )
    for full in sub_accounts_near_limits(agency=agency, most=MOST_NAMED):
        yield Concern(
            text=_("%(name)s uses %(used)s of %(allowed)s %(label)s.")
            % {"name": full.name, "used": full.used, "allowed": full.allowed, "label": limits.LABELS[full.limit]},
            url=reverse("console:sub-account-plan", args=[full.uuid]),
            action=_("Plan"),
        )


concern_sources.add(ConcernSource(name="workspaces", order=20, concerns=concerns))
event_types.add(*EVENTS)
console_menu.add(
    MenuEntry(url_name="console:sub-accounts", label=_("Sub-accounts"), icon="accounts", section=Section.MAIN, order=20)
)
dashboard_menu.add(
    MenuEntry(url_name="app:channels", label=_("Channels"), icon="connect", order=30),
    MenuEntry(url_name="app:settings", label=_("Settings"), icon="settings", order=95),
)
first_steps.add(
    FirstStep(
        title=_("Create a sub-account"),
        text=_("A customer's workspace, with its owner. An existing API integration can do this too."),
        url_name="console:sub-account-new",
        action=_("New sub-account"),
        is_done=lambda agency: agency.sub_account_count > 0,
        order=20,
    )
)
figure_sources.add(FigureSource(name="workspaces", order=10, figures=figures))
label_actions(ACTIONS)
activity_targets.add(ActivityTarget("workspace", "console:sub-account"))
