"""This app's registrations: menu, activity labels, events, requirement checks, the home page, conversations."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast, Concat, Now
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from agency.event_types import event_types
from agency.notification_kinds import notification_kinds
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    Alert,
    MenuEntry,
    Section,
    activity_actions,
    activity_details,
    console_menu,
    dashboard_menu,
)
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from config.metrics import METRICS, MOST_COUNTED, Counter, Gauge, Histogram, capped_count, oldest_seconds
from config.retention import retention_rules
from workspaces.appointments.models import WorkingHours
from workspaces.appointments.services.booking import appointment_handlers
from workspaces.automations.api import AutomationSerializer
from workspaces.automations.dashboard.inbox import (
    automations_of_timeline,
    message_remarks,
    pause_banner,
    runs_of_contact,
)
from workspaces.automations.engine.effects import TEAM_NOTIFICATIONS
from workspaces.automations.flows.flow import settings_used
from workspaces.automations.models import AiAccount, Automation, ContactQueue, OutsideCall
from workspaces.automations.serializers import RunSerializer
from workspaces.automations.services import (
    RequirementCheck,
    capabilities_of,
    reasons_barred,
    reasons_not_ready,
    requirement_checks,
)
from workspaces.automations.services.ai_accounts import KINDS
from workspaces.automations.services.ai_budgets import BUDGET_KINDS
from workspaces.automations.services.appointment_facts import APPOINTMENT_HANDLER
from workspaces.automations.services.contact_triggers import record_added_tags
from workspaces.automations.services.conversation_triggers import (
    RECEIVED_COMMENT_HANDLER,
    RECEIVED_MESSAGE_HANDLER,
    REFERRAL_HANDLER,
)
from workspaces.automations.services.outside_calls import CALL_RULES
from workspaces.automations.services.pauses import ENDED_CONVERSATION_HANDLER, OWN_MESSAGE_HANDLER
from workspaces.automations.services.payment_calls import PAYMENT_HANDLER
from workspaces.automations.services.removal import LOCK_HANDLER, MERGE_HANDLER, REMOVAL_HANDLER, RUN_RULES
from workspaces.automations.services.run_failures import NOTIFICATION_KINDS, RUN_FAILED
from workspaces.automations.services.switching import DISABLED, ENABLED
from workspaces.catalogue.services.services import has_services
from workspaces.contacts.pages import ContactPanel, TimelineSource, contact_panels, timeline_sources
from workspaces.contacts.services import contact_lock_handlers, contact_merge_handlers, contact_removal_handlers
from workspaces.contacts.services.counting import has_contacts
from workspaces.contacts.services.tag_handlers import TagHandler, tag_handlers
from workspaces.conversations.pages import ThreadAddition, thread_additions
from workspaces.conversations.services.registries import (
    ended_conversation_handlers,
    own_message_handlers,
    received_comment_handlers,
    received_message_handlers,
    referral_handlers,
)
from workspaces.finance.services.accounts import accepts_payments
from workspaces.finance.services.payments import payment_handlers
from workspaces.media.models import Media, MediaQuerySet
from workspaces.media.services import MediaUse, media_uses
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.registry import (
    SetUpSource,
    SetUpStep,
    WorkspaceConcernSource,
    set_up_sources,
    workspace_concern_sources,
)
from workspaces.subaccounts.services import settings_in_texts

# At most this many automations of a workspace are read, beginning with those that are on and the newest.
MOST_LOOKED_AT = 20
MOST_NAMED = 3
MOST_STAFF = 200


def automation_steps(workspace: Workspace) -> Iterator[SetUpStep]:
    """Give three steps: fill in the business details, set up an automation, switch one on."""
    newest = workspace.automations.select_related("published").order_by("-enabled", "-created_at", "-id")
    automations = list(newest[:MOST_LOOKED_AT])
    yield _details_step(workspace, automations)
    on = [one for one in automations if one.enabled]
    can_run = [one for one in automations if not reasons_barred(one)]
    filled = on or [one for one in can_run if one.published_id is not None]
    first = next(iter(can_run or automations), None)
    yield SetUpStep(
        title=_("Set an automation up"),
        text=_("Choose ready-made automations in the gallery and fill in your own details."),
        url=reverse("app:automation", args=[first.uuid]) if first else reverse("app:gallery"),
        action=_("Set up") if first else _("Gallery"),
        is_done=bool(filled),
    )
    yield SetUpStep(
        title=_("Switch it on"),
        text=_("It then replies to your customers."),
        url=reverse("app:automation", args=[filled[0].uuid]) if len(filled) == 1 else reverse("app:automations"),
        action=_("Switch on"),
        is_done=bool(on),
    )


def _details_step(workspace: Workspace, automations: list[Automation]) -> SetUpStep:
    values = settings_in_texts(workspace)
    used = {name for one in automations for name in settings_used(one.draft)}
    own = {name: value for name, value in values.items() if name != "name"}
    return SetUpStep(
        title=_("Fill in your business details"),
        text=_("Opening hours, address, links: your automations say them to your customers."),
        url=reverse("app:settings"),
        action=_("Business details"),
        is_done=all(own[name] for name in used) if used else any(own.values()),
    )


def automation_warnings(workspace: Workspace) -> Iterator[Alert]:
    """Name a few automations that are on but cannot run, because something is missing now."""
    enabled = workspace.automations.filter(enabled=True).select_related("published")
    on = list(enabled.order_by("-created_at", "-id")[:MOST_LOOKED_AT])
    if not on:
        return
    capabilities = capabilities_of(workspace)
    waiting = [(one, reasons) for one in on if (reasons := reasons_not_ready(one, capabilities))]
    for one, reasons in waiting[:MOST_NAMED]:
        is_barred = bool(reasons_barred(one))
        text = (
            _("%(name)s is on, but cannot run yet: %(reason)s")
            if is_barred
            else _("%(name)s is on, but something is missing.")
        )
        yield Alert(
            text=text % {"name": one.name, "reason": reasons[0]},
            url=reverse("app:automation", args=[one.uuid]),
            action=_("Look at it"),
        )


FLOWS = Concat(Cast("draft", TextField()), Cast("published__flow", TextField()))


def automation_needing(media: Media) -> str | None:
    """Describe an automation whose draft or published flow names the file; None without one."""
    needing = Automation.objects.filter(workspace_id=media.workspace_id).alias(flows=FLOWS)
    name = needing.filter(flows__contains=str(media.uuid)).order_by("pk").values_list("name", flat=True).first()
    return None if name is None else f"the automation \u201c{name}\u201d"


def media_in_automations(media: MediaQuerySet) -> MediaQuerySet:
    """Keep the files that an automation of their workspace names."""
    naming = Automation.objects.filter(workspace=OuterRef("workspace")).alias(flows=FLOWS)
    return media.filter(Exists(naming.filter(flows__contains=Cast(OuterRef("uuid"), TextField()))))


def has_working_hours(workspace: Workspace) -> bool:
    """Say whether the business has opening hours, or a staff member hours of their own."""
    if any(workspace.opening_hours.values()):
        return True
    hours = WorkingHours.objects.filter(staff__workspace=workspace, staff__deleted_at=None)
    return any(any(weekly.values()) for weekly in hours.values_list("weekly", flat=True)[:MOST_STAFF])


def has_booking_page(workspace: Workspace) -> bool:
    """Say whether there is an address at which people book: the booking page while it is on, or the setting."""
    return bool(settings_in_texts(workspace)["booking_link"])


FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "automation.renamed": (RecordedField("name", gettext_lazy("Name")),),
    "automation.settings_changed": (
        RecordedField("name", gettext_lazy("Name")),
        RecordedField("reentry", gettext_lazy("How often for each contact"), choices=Automation.Reentry.choices),
        RecordedField("reentry_days", gettext_lazy("Days"), ValueFormat.NUMBER),
        RecordedField("stops_on_reply", gettext_lazy("A reply ends the wait"), ValueFormat.SWITCH),
        RecordedField("stops_on_booking", gettext_lazy("A booking ends it"), ValueFormat.SWITCH),
    ),
    "ai_budget.changed": (RecordedField("monthly_budget", gettext_lazy("Budget for a month")),),
}


ACTIONS = {
    "automation.created": gettext_lazy("Automation created"),
    "automation.draft_saved": gettext_lazy("Automation edited"),
    "automation.step_added": gettext_lazy("Step added"),
    "automation.step_changed": gettext_lazy("Step changed"),
    "automation.step_moved": gettext_lazy("Step moved"),
    "automation.step_removed": gettext_lazy("Step removed"),
    "automation.steps_connected": gettext_lazy("Steps connected"),
    "automation.trigger_changed": gettext_lazy("Start changed"),
    "automation.undone": gettext_lazy("Change to an automation undone"),
    "automation.redone": gettext_lazy("Change to an automation redone"),
    "automation.copied": gettext_lazy("Automation copied"),
    "automation.renamed": gettext_lazy("Automation renamed"),
    "automation.settings_changed": gettext_lazy("Settings of an automation changed"),
    "automation.published": gettext_lazy("Automation published"),
    "automation.removed": gettext_lazy("Automation removed"),
    "automation.new_version_taken": gettext_lazy("New version of an automation taken over"),
    "automation.new_version_declined": gettext_lazy("New version of an automation declined"),
    "automation.installed": gettext_lazy("Automation installed from a pack"),
    "automation.slots_filled": gettext_lazy("Automation filled in"),
    "automation.switched_on": gettext_lazy("Automation switched on"),
    "automation.switched_off": gettext_lazy("Automation switched off"),
    "automation.run_stopped": gettext_lazy("Automation stopped for a contact"),
    "automation.run_retried": gettext_lazy("Automation retried for a contact"),
    "ai_account.added": gettext_lazy("A.I. account added"),
    "ai_account.changed": gettext_lazy("A.I. account changed"),
    "ai_account.removed": gettext_lazy("A.I. account removed"),
    "ai_budget.changed": gettext_lazy("A.I. budget of all accounts changed"),
}
SUBJECTS = {
    "automation": gettext_lazy("Automations"),
    "ai_account": gettext_lazy("A.I. accounts"),
    "ai_budget": gettext_lazy("A.I. accounts"),
}

console_menu.add(
    MenuEntry(
        url_name="console:ai-accounts",
        label=gettext_lazy("A.I. accounts"),
        icon="automation",
        section=Section.CONFIGURATION,
        order=35,
    )
)
dashboard_menu.add(
    MenuEntry(
        url_name="app:automations",
        label=gettext_lazy("Automations"),
        icon="automation",
        section=Section.AUTOMATION,
        order=20,
    ),
    MenuEntry(
        url_name="app:prerequisites",
        label=gettext_lazy("Prerequisites"),
        icon="checklist",
        section=Section.AUTOMATION,
        order=90,
    ),
)
recorded_actions.add(*RecordedAction.from_fields(FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, SUBJECTS))
activity_details.add(
    ActivityDetail("automation.run", gettext_lazy("Run")),
    ActivityDetail("automation.slots", gettext_lazy("filled in")),
    ActivityDetail("automation.version", gettext_lazy("Version")),
)
event_types.add(
    workspace_event_type(
        RUN_FAILED,
        gettext_noop("Automation run failed"),
        group="Automations",
        resource="run",
        serializer=RunSerializer,
        sample={"status": "failed", "ended_at": "2026-11-20T09:31:00Z"},
        automation=AutomationSerializer(),
    ),
    *(
        workspace_event_type(
            name,
            label,
            group="Automations",
            resource="automation",
            serializer=AutomationSerializer,
            sample={"enabled": name == ENABLED},
        )
        for name, label in (
            (ENABLED, gettext_noop("Automation switched on")),
            (DISABLED, gettext_noop("Automation switched off")),
        )
    ),
)
notification_kinds.add(*KINDS, *BUDGET_KINDS, *NOTIFICATION_KINDS, *TEAM_NOTIFICATIONS)
retention_rules.add(*RUN_RULES, *CALL_RULES)
contact_lock_handlers.add(LOCK_HANDLER)
contact_removal_handlers.add(REMOVAL_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
contact_panels.add(
    ContactPanel(
        name="automations",
        order=10,
        template="automations/_contact_panel.html",
        inbox_template="automations/_inbox_panel.html",
        content=runs_of_contact,
    )
)
timeline_sources.add(TimelineSource(name="automations", entries=automations_of_timeline))
thread_additions.add(ThreadAddition(name="automations", remarks=message_remarks, banner=pause_banner))
media_uses.add(MediaUse("automations", automation_needing, media_in_automations))
requirement_checks.add(
    RequirementCheck("contact", has_contacts, url_name="app:contact-new"),
    RequirementCheck("service", has_services, url_name="app:service-new"),
    RequirementCheck("availability", has_working_hours, url_name="app:settings"),
    RequirementCheck("booking_page", has_booking_page, url_name="app:booking-page"),
    RequirementCheck("payment", accepts_payments, url_name="app:payment-account"),
)
appointment_handlers.add(APPOINTMENT_HANDLER)
payment_handlers.add(PAYMENT_HANDLER)
tag_handlers.add(TagHandler("automations", record_added_tags))
set_up_sources.add(SetUpSource(name="automations", order=20, steps=automation_steps))
workspace_concern_sources.add(WorkspaceConcernSource(name="automations", order=20, concerns=automation_warnings))
received_message_handlers.add(RECEIVED_MESSAGE_HANDLER)
received_comment_handlers.add(RECEIVED_COMMENT_HANDLER)
referral_handlers.add(REFERRAL_HANDLER)
own_message_handlers.add(OWN_MESSAGE_HANDLER)
ended_conversation_handlers.add(ENDED_CONVERSATION_HANDLER)
guides.add(
    Guide(
        area=DASHBOARD,
        slug="automations",
        title=gettext_lazy("Automations"),
        summary=gettext_lazy("Let messages be answered without you."),
        picture=gettext_lazy("The page of an automation that can be switched on, and what it does."),
        order=70,
        pages=("automations", "gallery", "prerequisites"),
        related=("inbox", "channels"),
    )
)


# Metrics -------------------------------------------------------------------------------------------


DUE: Final = ContactQueue.objects.filter(is_due=True, is_suspect=False)
# Contacts of suspended workspaces and agencies rightly wait. No index has all contacts in the order of time.
ACTIVE: Final = Workspace.objects.filter(pk=OuterRef("workspace_id"), status="active", agency__status="active")
SOME_DUE: Final = ContactQueue.objects.filter(Exists(ACTIVE), pk__in=DUE.values("pk")[:MOST_COUNTED])


def _due_calls() -> QuerySet[OutsideCall]:
    return OutsideCall.objects.filter(status=OutsideCall.Status.PLANNED, due_at__lte=Now())


AUTOMATION_METRICS: Final = (
    Gauge(
        "automations_due",
        "Contacts whose automations are due and that no engine has worked on, counted up to 10,000.",
        read=lambda: capped_count(DUE),
    ),
    Gauge(
        "automations_due_oldest_seconds",
        "For how long the longest due among the first 10,000 contacts has waited for an engine of automations.",
        read=lambda: oldest_seconds(SOME_DUE, "due_since"),
    ),
    Counter(
        "automation_facts_total",
        "Facts that engines of automations have decided about, by what became of them.",
        label="outcome",
    ),
    Counter(
        "automation_runs_total",
        "What happened to runs of automations: started, completed, stopped or failed.",
        label="state",
    ),
    Gauge(
        "outside_calls_due",
        "Calls of other systems that are due and that nobody has claimed.",
        read=lambda: capped_count(_due_calls()),
    ),
    Gauge(
        "outside_calls_due_oldest_seconds",
        "For how long the oldest of them has been due.",
        read=lambda: oldest_seconds(_due_calls(), "due_at"),
        combine=max,
    ),
    Counter("outside_calls_total", "Calls of other systems that ended.", label="outcome"),
    Histogram("outside_call_seconds", "How long calls of other systems took.", label="kind"),
    Gauge(
        "ai_accounts_stopped",
        "A.I. accounts that nobody calls now, as their provider does not answer or refuses the key.",
        read=lambda: capped_count(AiAccount.objects.filter(stopped_until__gt=Now())),
    ),
)

METRICS.add(*AUTOMATION_METRICS)
