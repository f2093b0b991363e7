"""This app's registrations: menu entries, labels of the activity log, events, requirement checks, the home page."""

from django.utils.translation import gettext_lazy as _

from agency.event_types import event_types
from agency.pages.registry import ActivityAction, MenuEntry, Section, activity_actions, dashboard_menu
from agency.services.activity import RecordedAction, recorded_actions
from workspaces.automations.api.serializers import AutomationSerializer
from workspaces.automations.dashboard.first_steps import automation_steps, automations_that_wait
from workspaces.automations.services import RequirementCheck, requirement_checks
from workspaces.automations.services.media_use import automation_needing, media_in_automations
from workspaces.automations.services.recorded_fields import FIELDS as RECORDED_FIELDS
from workspaces.automations.services.switching import DISABLED, ENABLED
from workspaces.catalogue.services.choosing import has_services
from workspaces.contacts.services.counting import has_contacts
from workspaces.media.services import MediaUse, media_uses
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.pages.registry import (
    SetUpSource,
    WorkspaceConcernSource,
    set_up_sources,
    workspace_concern_sources,
)

ACTIONS = {
    "automation.created": _("Automation created"),
    "automation.draft_saved": _("Automation edited"),
    "automation.renamed": _("Automation renamed"),
    "automation.published": _("Automation published"),
    "automation.removed": _("Automation removed"),
    "automation.installed": _("Automation installed from a pack"),
    "automation.slots_filled": _("Automation filled in"),
    "automation.switched_on": _("Automation switched on"),
    "automation.switched_off": _("Automation switched off"),
    "readiness.changed": _("Prerequisites changed"),
}

dashboard_menu.add(
    MenuEntry(
        url_name="app:automations", label=_("Automations"), icon="automation", section=Section.AUTOMATION, order=20
    ),
    MenuEntry(
        url_name="app:prerequisites", label=_("Prerequisites"), icon="checklist", section=Section.AUTOMATION, order=90
    ),
)
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
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
workspace_concern_sources.add(WorkspaceConcernSource(name="automations", order=20, concerns=automations_that_wait))
