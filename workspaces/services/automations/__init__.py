"""Every change of an automation: one verb, one function, one transaction."""

from workspaces.services.automations.drafts import (
    create_automation,
    fill_slots,
    remove_automation,
    rename_automation,
    save_draft,
)
from workspaces.services.automations.errors import (
    AutomationNotFound,
    FlowRefused,
    NameNeeded,
    NotReady,
    SlotNotFound,
    SlotRefused,
)
from workspaces.services.automations.installing import Origin, install_automation
from workspaces.services.automations.publishing import publish_automation, what_keeps_from_publishing
from workspaces.services.automations.readiness import (
    asked_requirements,
    met_requirements,
    missing_requirements,
    note_readiness,
    register_requirement_check,
)
from workspaces.services.automations.switching import (
    CHANNEL_NAMES,
    Means,
    means_of,
    switch_off,
    switch_on,
    what_is_missing,
)

__all__ = [
    "CHANNEL_NAMES",
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
