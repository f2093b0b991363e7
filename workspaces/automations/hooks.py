"""This app's registrations: menu entries, labels of the activity log, events, requirement checks, the home page."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Exists, OuterRef, TextField
from django.db.models.functions import Cast, Concat
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.event_types import event_types
from agency.pages.registry import ActivityAction, Alert, MenuEntry, Section, activity_actions, dashboard_menu
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from workspaces.automations.api import AutomationSerializer
from workspaces.automations.flows.flow import settings_used
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.models import Automation
from workspaces.automations.services import RequirementCheck, capabilities_of, reasons_not_ready, requirement_checks
from workspaces.automations.services.switching import DISABLED, ENABLED
from workspaces.catalogue.services.services import has_services
from workspaces.contacts.services.counting import has_contacts
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


def automation_steps(workspace: Workspace) -> Iterator[SetUpStep]:
    """Give three steps: fill in the business details, set up an automation, switch one on."""
    automations = list(workspace.automations.order_by("-enabled", "-created_at", "-id")[:MOST_LOOKED_AT])
    yield _details_step(workspace, automations)
    on = [one for one in automations if one.enabled]
    filled = on or [one for one in automations if one.published_id is not None]
    first = automations[0] if automations else None
    yield SetUpStep(
        title=_("Set an automation up"),
        text=_("Choose ready-made automations in the gallery and fill in what only you know."),
        url=reverse("app:automation", args=[first.uuid]) if first else reverse("app:gallery"),
        action=_("Set up") if first else _("Gallery"),
        is_done=bool(filled),
    )
    yield SetUpStep(
        title=_("Switch it on"),
        text=_("From then on it answers your customers."),
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
        action=_("Settings"),
        is_done=all(own[name] for name in used) if used else any(own.values()),
    )


def automation_warnings(workspace: Workspace) -> Iterator[Alert]:
    """Name a few automations that are on but cannot run, because something is missing now."""
    on = list(workspace.automations.filter(enabled=True).order_by("-created_at", "-id")[:MOST_LOOKED_AT])
    if not on:
        return
    capabilities = capabilities_of(workspace)
    waiting = [one for one in on if reasons_not_ready(one, capabilities)]
    for one in waiting[:MOST_NAMED]:
        yield Alert(
            text=_("%(name)s is on, but something is missing.") % {"name": one.name},
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


FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "automation.renamed": (RecordedField("name", gettext_lazy("Name")),),
    "automation.settings_changed": (
        RecordedField("name", gettext_lazy("Name")),
        RecordedField("reentry", gettext_lazy("How often for each contact"), choices=Automation.Reentry.choices),
        RecordedField("reentry_days", gettext_lazy("Days"), ValueFormat.NUMBER),
        RecordedField("stops_on_reply", gettext_lazy("An answer ends waiting"), ValueFormat.SWITCH),
    ),
    "readiness.changed": tuple(
        RecordedField(name, gettext_lazy(label), ValueFormat.SWITCH) for name, label in REQUIREMENTS.items()
    ),
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
    "automation.undone": gettext_lazy("Change of an automation undone"),
    "automation.redone": gettext_lazy("Change of an automation made again"),
    "automation.copied": gettext_lazy("Automation copied"),
    "automation.renamed": gettext_lazy("Automation renamed"),
    "automation.settings_changed": gettext_lazy("Settings of an automation changed"),
    "automation.published": gettext_lazy("Automation published"),
    "automation.removed": gettext_lazy("Automation removed"),
    "automation.installed": gettext_lazy("Automation installed from a pack"),
    "automation.slots_filled": gettext_lazy("Automation filled in"),
    "automation.switched_on": gettext_lazy("Automation switched on"),
    "automation.switched_off": gettext_lazy("Automation switched off"),
    "readiness.changed": gettext_lazy("Prerequisites changed"),
}

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
activity_actions.add(*ActivityAction.from_labels(ACTIONS))
event_types.add(
    *(
        workspace_event_type(
            name,
            label,
            group="Automations",
            resource="automation",
            serializer=AutomationSerializer,
            sample={"enabled": name == ENABLED},
        )
        for name, label in ((ENABLED, "Automation switched on"), (DISABLED, "Automation switched off"))
    )
)
media_uses.add(MediaUse("automations", automation_needing, media_in_automations))
requirement_checks.add(
    RequirementCheck("contact", has_contacts, url_name="app:contact-new"),
    RequirementCheck("service", has_services, url_name="app:service-new"),
)
set_up_sources.add(SetUpSource(name="automations", order=20, steps=automation_steps))
workspace_concern_sources.add(WorkspaceConcernSource(name="automations", order=20, concerns=automation_warnings))
