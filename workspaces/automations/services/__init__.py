"""Every change of an automation: one verb, one function, one transaction."""

from workspaces.automations.services.drafts import (
    create_automation,
    fill_slots,
    remove_automation,
    rename_automation,
    save_draft,
)
from workspaces.automations.services.errors import (
    AutomationNotFound,
    FlowRefused,
    NameNeeded,
    NotReady,
    SlotNotFound,
    SlotRefused,
)
from workspaces.automations.services.installing import Origin, install_automation
from workspaces.automations.services.publishing import publish_automation, what_keeps_from_publishing
from workspaces.automations.services.readiness import (
    asked_requirements,
    met_requirements,
    missing_requirements,
    note_readiness,
    register_requirement_check,
)
from workspaces.automations.services.switching import (
    Means,
    means_of,
    switch_off,
    switch_on,
    what_is_missing,
)

__all__ = [
    "AutomationNotFound",
    "FlowRefused",
    "Means",
    "NameNeeded",
    "NotReady",
    "Origin",
    "SlotNotFound",
    "SlotRefused",
    "asked_requirements",
    "create_automation",
    "fill_slots",
    "install_automation",
    "means_of",
    "met_requirements",
    "missing_requirements",
    "note_readiness",
    "publish_automation",
    "register_requirement_check",
    "remove_automation",
    "rename_automation",
    "save_draft",
    "switch_off",
    "switch_on",
    "what_is_missing",
    "what_keeps_from_publishing",
]
