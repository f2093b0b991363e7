"""What sub-accounts add elsewhere: events; the console, the dashboard and the activity log."""

from collections.abc import Iterable
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency import limits
from agency.event_types import EventType, event_types
from agency.models import Agency, User
from agency.pages.registry import (
    ActivityTarget,
    Belonging,
    Concern,
    ConcernSource,
    Figure,
    FigureSource,
    FirstStep,
    LandingPlace,
    MenuEntry,
    Section,
    activity_targets,
    concern_sources,
    console_menu,
    dashboard_menu,
    figure_sources,
    first_steps,
    label_actions,
    landing_places,
)
from agency.services.people.invitations import invitation_handlers
from config.api.serializers import Serializer
from workspaces.subaccounts import events
from workspaces.subaccounts.api.serializers import (
    AddonEventSerializer,
    SubAccountEventSerializer,
    SubscriptionChangedSerializer,
)
from workspaces.subaccounts.api.workspace.serializers import WorkspaceChannelSerializer
from workspaces.subaccounts.event_types import workspace_event_type
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import UsageSource, usage_sources
from workspaces.subaccounts.services.owners import OWNERSHIP
from workspaces.subaccounts.services.subscription.near_limits import sub_accounts_near_limits
from workspaces.subaccounts.services.subscription.usage import used_channels, used_seats


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
CHANNEL_EVENTS = tuple(
    workspace_event_type(
        name,
        label,
        group="Channels",
        resource="channel",
        serializer=WorkspaceChannelSerializer,
        sample={"platform": "whatsapp", "status": status},
    )
    for name, label, status in (
        (events.CHANNEL_CONNECTED, "Channel connected", "active"),
        (events.CHANNEL_ERROR, "Channel lost at the provider", "error"),
        (events.CHANNEL_DISCONNECTED, "Channel disconnected", "disconnected"),
        (events.CHANNEL_LIMIT_CHANGED, "Messaging limit changed", "active"),
    )
)
MOST_SHOWN = 100
RECENTLY = timedelta(days=30)
ACTIONS = {
    "workspace.created": _("Sub-account created"),
    "workspace.changed": _("Sub-account edited"),
    "workspace.owner_replaced": _("Sub-account owner replaced"),
    "workspace.owner_invited": _("Sub-account owner invited again"),
    "workspace.owner_accepted": _("Sub-account owner accepted"),
    "workspace.owner_declined": _("Sub-account owner declined"),
    "workspace.owner_left": _("Sub-account owner left"),
    "workspace.suspended": _("Sub-account suspended"),
    "workspace.restored": _("Sub-account restored"),
    "plan.assigned": _("Plan assigned"),
    "addon.granted": _("Add-on granted"),
    "addon.revoked": _("Add-on revoked"),
    "channel.connected": _("Channel connected"),
    "channel.reconnected": _("Channel connected again"),
    "channel.disconnected": _("Channel disconnected"),
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


def _owns_something(user: User) -> bool:
    return Workspace.objects.owned_by(user).exists()


def _workspaces(user: User) -> Iterable[Belonging]:
    """The first few; all of them are on the page on which they are chosen."""
    owned = Workspace.objects.owned_by(user).select_related("agency").order_by("name_key", "id")
    for workspace in owned[:MOST_SHOWN]:
        yield Belonging(
            label=workspace.name,
            note=_("Owner, at %(agency)s") % {"agency": workspace.agency.name},
            open_url=reverse("app:switch"),
            field="workspace",
            value=str(workspace.uuid),
            leave_url=reverse("app:leave", args=[workspace.uuid]),
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
event_types.add(*EVENTS, *CHANNEL_EVENTS)
invitation_handlers.add(OWNERSHIP)
console_menu.add(
    MenuEntry(url_name="console:sub-accounts", label=_("Sub-accounts"), icon="accounts", section=Section.MAIN, order=20)
)
dashboard_menu.add(
    MenuEntry(url_name="app:channels", label=_("Channels"), icon="connect", section=Section.CONFIGURATION, order=30),
    MenuEntry(url_name="app:api-keys", label=_("REST API"), icon="key", section=Section.CONFIGURATION, order=85),
    MenuEntry(url_name="app:settings", label=_("Settings"), icon="settings", section=Section.CONFIGURATION, order=95),
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
landing_places.add(
    LandingPlace(name="app", url_name="app:home", order=30, is_open=_owns_something, belongings=_workspaces)
)
figure_sources.add(FigureSource(name="workspaces", order=10, figures=figures))
label_actions(ACTIONS)
usage_sources.add(UsageSource("channels", used_channels), UsageSource("team", used_seats))
activity_targets.add(ActivityTarget("workspace", "console:sub-account"))
