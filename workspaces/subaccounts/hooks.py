"""This app's registrations: events, pages of the console and the dashboard, labels of the activity log."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from django.contrib.auth.signals import user_logged_out
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency import limits
from agency.event_types import EventType, event_types
from agency.models import Agency, User
from agency.notification_kinds import notification_kinds
from agency.pages.charts import ChartSource, chart_sources
from agency.pages.help import CONSOLE, DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    ActivityTarget,
    Alert,
    AlertSource,
    Figure,
    FigureSource,
    FirstStep,
    LandingPage,
    Membership,
    MenuEntry,
    Section,
    activity_actions,
    activity_details,
    activity_targets,
    alert_sources,
    console_menu,
    dashboard_menu,
    figure_sources,
    first_steps,
    landing_pages,
)
from agency.pages.search import (
    ConsoleAction,
    SearchSource,
    console_actions,
    search_sources,
    support_panels,
    support_search_sources,
    support_start_panels,
)
from agency.services.activity import LIMIT_FIELDS, RecordedAction, RecordedField, ValueFormat, recorded_actions
from agency.services.bulk import bulk_actions
from agency.services.exports import export_sources
from agency.services.invitations import invitation_handlers
from agency.services.notifications.delivery import recipient_sources
from agency.services.notifications.recording import StateCheck, state_checks
from agency.services.passwords import MembershipSource, address_requests, membership_sources
from config.api.serializers import Serializer
from config.request_bodies import BodyRule, body_rules
from workspaces.subaccounts import events
from workspaces.subaccounts.api.serializers import (
    AddonEventSerializer,
    SubAccountEventSerializer,
    SubscriptionChangedSerializer,
)
from workspaces.subaccounts.api.workspace import WorkspaceChannelSerializer
from workspaces.subaccounts.console.bulk import BULK_ACTIONS, SUB_ACCOUNT_EXPORT
from workspaces.subaccounts.dashboard.home import broken_channels, channel_step
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.pages.agency_access import leave_on_signing_out
from workspaces.subaccounts.pages.panels import (
    HUB_CONCERNS,
    HUB_PANELS,
    SUPPORT_FIND_SOURCES,
    SUPPORT_PANELS,
    SUPPORT_START_PANELS,
    channel_results,
    new_workspaces,
    workspace_results,
)
from workspaces.subaccounts.pages.registry import (
    SetUpSource,
    WorkspaceConcernSource,
    hub_concern_sources,
    hub_panels,
    set_up_sources,
    workspace_concern_sources,
)
from workspaces.subaccounts.services import UsageSource, notifications, usage_sources
from workspaces.subaccounts.services.health import CHECKS, health_checks
from workspaces.subaccounts.services.limit_usage import (
    check_workspace_limits,
    sub_accounts_near_limits,
    used_channels,
    used_team_members,
)
from workspaces.subaccounts.services.members import MEMBERSHIP
from workspaces.subaccounts.services.owners import OWNERSHIP
from workspaces.subaccounts.services.signing_up import SIGN_UPS

OWNER_EMAIL = (RecordedField("email", _("Owner's e-mail"), agency_only=True),)

RECORDED_FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "workspace.changed": (
        RecordedField("name", _("Name")),
        RecordedField("business_type", _("Business type"), choices=BusinessType.choices),
        RecordedField("timezone", _("Time zone")),
        RecordedField("external_id", _("External ID"), agency_only=True),
        RecordedField("metadata", _("Metadata"), hidden=True, agency_only=True),
        RecordedField("currency", _("Currency")),
        RecordedField("opening_hours", _("Opening hours")),
        RecordedField("address", _("Address")),
        RecordedField("phone", _("Phone number")),
        RecordedField("email", _("E-mail")),
        RecordedField("website", _("Website"), cut_at="?"),
        RecordedField("booking_link", _("Booking link"), cut_at="?"),
        RecordedField("review_link", _("Review link"), cut_at="?"),
        RecordedField("menu_link", _("Link to the menu"), cut_at="?"),
        RecordedField("two_factor_required", _("Two-factor is required"), ValueFormat.SWITCH),
        RecordedField("first_steps_hidden", _("First steps hidden"), ValueFormat.SWITCH),
    ),
    "plan.assigned": (RecordedField("plan", _("Plan")), *LIMIT_FIELDS),
    "addon.granted": LIMIT_FIELDS,
    "addon.revoked": LIMIT_FIELDS,
    "workspace.owner_replaced": OWNER_EMAIL,
    "workspace.owner_handed_over": OWNER_EMAIL,
}


def _event(
    name: str, label: str, serializer: type[Serializer] = SubAccountEventSerializer, status: str = "active"
) -> EventType:
    """Declare an event about a sub-account. `status` is that of the sub-account in the sample."""
    sample = {"workspace": {"name": "Sample sub-account", "status": status}}
    return EventType(name=name, label=label, group="Sub-accounts", serializer=serializer, sample=sample)


EVENTS = (
    _event(events.WORKSPACE_CREATED, gettext_noop("Sub-account created")),
    _event(events.WORKSPACE_SUSPENDED, gettext_noop("Sub-account suspended"), status="suspended"),
    _event(events.WORKSPACE_RESTORED, gettext_noop("Sub-account restored")),
    _event(events.SUBSCRIPTION_CHANGED, gettext_noop("Plan changed"), SubscriptionChangedSerializer),
    _event(events.ADDON_GRANTED, gettext_noop("Add-on granted"), AddonEventSerializer),
    _event(events.ADDON_REVOKED, gettext_noop("Add-on revoked"), AddonEventSerializer),
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
        (events.CHANNEL_CONNECTED, gettext_noop("Channel connected"), "active"),
        (events.CHANNEL_ERROR, gettext_noop("Channel lost at the provider"), "error"),
        (events.CHANNEL_DISCONNECTED, gettext_noop("Channel disconnected"), "disconnected"),
        (events.CHANNEL_LIMIT_CHANGED, gettext_noop("Messaging limit changed"), "active"),
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
    "workspace.moved": _("Sub-account moved to another agency"),
    "sign_up.confirmed": _("Customer signed up"),
    "workspace.owner_handed_over": _("Ownership handed over"),
    "workspace.opened_by_agency": _("Dashboard opened as customer"),
    "workspace.left_by_agency": _("Dashboard left"),
    "workspace.changed_by_agency": _("Changed as customer"),
    "workspace_member.invited": _("Person invited"),
    "workspace_member.joined": _("Person joined"),
    "workspace_member.left": _("Person left"),
    "workspace_member.removed": _("Person removed"),
    "workspace.suspended": _("Sub-account suspended"),
    "workspace.restored": _("Sub-account restored"),
    "workspace.message_sent": _("E-mail sent to owner"),
    "plan.assigned": _("Plan assigned"),
    "addon.granted": _("Add-on granted"),
    "addon.revoked": _("Add-on revoked"),
    "channel.requested": _("Channel requested"),
    "channel.connected": _("Channel connected"),
    "channel.reconnected": _("Channel connected again"),
    "channel.disconnected": _("Channel disconnected"),
    "workspace_key.created": _("Workspace API key created"),
    "workspace_key.rolled": _("Workspace API key rolled"),
    "workspace_key.revoked": _("Workspace API key revoked"),
}
SUBJECTS = {
    "addon": _("Add-ons"),
    "channel": _("Channels"),
    "plan": _("Plans"),
    "sign_up": _("Sign-up"),
    "workspace": _("Sub-accounts"),
    "workspace_key": _("API keys"),
    "workspace_member": _("People"),
}


def figures(agency: Agency) -> Iterable[Figure]:
    """Give the figures of the console's home page. The total is the agency's stored count."""
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


def _workspaces_of(user: User, agency_id: int | None) -> "QuerySet[Workspace]":
    rows: QuerySet[Workspace] = Workspace.objects.of_person(user)
    return rows if agency_id is None else rows.filter(agency=agency_id)


def _agency_ids(user: User) -> Iterable[int]:
    """Give the agencies of the user's workspaces.

    A user without a password has accepted nothing yet. For such a user, workspaces that wait for their answer count.
    """
    rows = Workspace.objects.of_person(user)
    if not user.has_usable_password():
        rows = Workspace.objects.filter(Q(owner=user) | Q(pk__in=user.workspace_memberships.values("workspace")))
    return rows.order_by().values_list("agency_id", flat=True).distinct()


def _is_in_one(user: User, agency_id: int | None) -> bool:
    return _workspaces_of(user, agency_id).exists()


def _workspaces(user: User, agency_id: int | None) -> Iterable[Membership]:
    """Give the first of the user's workspaces. The page for choosing a workspace lists all of them."""
    rows = _workspaces_of(user, agency_id).select_related("agency").order_by("name_key", "id")
    for workspace in rows[:MOST_SHOWN]:
        note = _("Owner, at %(agency)s") if workspace.owner_id == user.pk else _("Member, at %(agency)s")
        yield Membership(
            label=workspace.name,
            note=note % {"agency": workspace.agency.name},
            open_url=reverse("app:switch"),
            field="workspace",
            value=str(workspace.uuid),
            leave_url=reverse("app:leave", args=[workspace.uuid]),
        )


MOST_NAMED = 3


def concerns(agency: Agency) -> Iterable[Alert]:
    """Name sub-accounts with a broken channel, and those near a limit of their channels."""
    broken = Channel.objects.filter(status=Channel.Status.ERROR, workspace__agency=agency)
    columns = ("workspace__name", "workspace__uuid", "name")
    for name, uuid, channel in broken.order_by("workspace", "id").values_list(*columns)[:MOST_NAMED]:
        yield Alert(
            text=_("%(channel)s of %(name)s is disconnected. Its owner has to connect it again.")
            % {"channel": channel, "name": name},
            url=reverse("console:sub-account", args=[uuid]),
            action=_("Sub-account"),
        )
    for full in sub_accounts_near_limits(agency=agency, most=MOST_NAMED):
        yield Alert(
            text=_("%(name)s uses %(used)s of %(allowed)s %(label)s.")
            % {"name": full.name, "used": full.used, "allowed": full.allowed, "label": limits.LABELS[full.limit]},
            url=reverse("console:sub-account-plan", args=[full.uuid]),
            action=_("Plan"),
        )


user_logged_out.connect(leave_on_signing_out, dispatch_uid="subaccounts.leave_access")
alert_sources.add(AlertSource(name="workspaces", order=20, concerns=concerns))
event_types.add(*EVENTS, *CHANNEL_EVENTS)
address_requests.add(SIGN_UPS)
invitation_handlers.add(OWNERSHIP, MEMBERSHIP)
console_menu.add(
    MenuEntry(url_name="console:sub-accounts", label=_("Sub-accounts"), icon="accounts", section=Section.MAIN, order=20)
)
chart_sources.add(
    ChartSource(
        name="workspaces", label=_("New sub-accounts"), order=10, url_name="console:sub-accounts", series=new_workspaces
    )
)
console_actions.add(ConsoleAction(url_name="console:sub-account-new", label=_("New sub-account"), order=10))
search_sources.add(
    SearchSource(name="workspaces", label=_("Sub-accounts"), order=10, find=workspace_results),
    SearchSource(name="channels", label=_("Channels"), order=20, find=channel_results),
)
body_rules.add(BodyRule("/app/", signed_in=True))
dashboard_menu.add(
    MenuEntry(url_name="app:home", label=_("Home"), icon="home", order=5),
    MenuEntry(
        url_name="app:settings", label=_("Business details"), icon="settings", section=Section.SETTINGS, order=30
    ),
    MenuEntry(url_name="app:channels", label=_("Channels"), icon="connect", section=Section.SETTINGS, order=35),
    MenuEntry(url_name="app:people", label=_("People"), icon="team", section=Section.SETTINGS, order=40),
    MenuEntry(url_name="app:api-keys", label=_("REST API"), icon="key", section=Section.SETTINGS, order=85),
    MenuEntry(url_name="app:activity", label=_("Activity"), icon="activity", section=Section.SETTINGS, order=97),
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
set_up_sources.add(SetUpSource(name="channels", order=10, steps=channel_step))
workspace_concern_sources.add(WorkspaceConcernSource(name="channels", order=10, concerns=broken_channels))
membership_sources.add(MembershipSource("workspaces", _agency_ids))
landing_pages.add(LandingPage(name="app", url_name="app:home", order=30, is_open=_is_in_one, belongings=_workspaces))
figure_sources.add(FigureSource(name="workspaces", order=10, figures=figures))
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, SUBJECTS))
activity_details.add(ActivityDetail("platform", _("Platform"), CHANNEL_NAMES.items()))
notification_kinds.add(*notifications.KINDS)
recipient_sources.add(notifications.PEOPLE)
state_checks.add(
    StateCheck("workspace_limits", check_workspace_limits),
    StateCheck("API keys of workspaces that expire", notifications.check_workspace_keys),
)
usage_sources.add(UsageSource("channels", used_channels), UsageSource("team", used_team_members))
activity_targets.add(ActivityTarget("workspace", "console:sub-account"))
bulk_actions.add(*BULK_ACTIONS)
export_sources.add(SUB_ACCOUNT_EXPORT)
support_panels.add(*SUPPORT_PANELS)
support_search_sources.add(*SUPPORT_FIND_SOURCES)
support_start_panels.add(*SUPPORT_START_PANELS)
hub_panels.add(*HUB_PANELS)
hub_concern_sources.add(*HUB_CONCERNS)
health_checks.add(*CHECKS)
guides.add(
    Guide(
        area=CONSOLE,
        slug="sub-accounts",
        title=_("Sub-accounts"),
        summary=_("Create, help, suspend and restore your customers' workspaces."),
        picture=_("The page of a sub-account, with a button that opens its dashboard, and its limits."),
        order=20,
        pages=("sub-accounts", "broadcasts", "finance"),
        related=("plans", "channel-connect", "activity"),
    ),
    Guide(
        area=DASHBOARD,
        slug="first-steps",
        title=_("First steps"),
        summary=_("Set up your workspace, from a channel to the first answer."),
        picture=_("The list of first steps on the home page: those that are done have a mark, the others a button."),
        order=10,
        pages=("home", "find", "find-suggestions", "settings", "workspace-new"),
        related=("channels", "automations", "people"),
    ),
    Guide(
        area=DASHBOARD,
        slug="channels",
        title=_("Channels"),
        summary=_("The numbers and accounts on which people write to you."),
        picture=_("A WhatsApp channel that is active, with its number and a button to disconnect it."),
        order=130,
        pages=("channels",),
        related=("inbox", "broadcasts", "first-steps"),
    ),
    Guide(
        area=DASHBOARD,
        slug="people",
        title=_("People and notifications"),
        summary=_("Invite colleagues, and choose your notifications."),
        picture=_("An invitation to the workspace, with name and e-mail address."),
        order=140,
        pages=("people", "notifications", "activity", "two-factor"),
        related=("inbox", "first-steps"),
    ),
)
