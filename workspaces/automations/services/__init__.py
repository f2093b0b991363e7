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
from workspaces.automations.services.publishing import publish_automation, publishing_problems
from workspaces.automations.services.readiness import (
    ReadinessChanges,
    RequirementCheck,
    asked_requirements,
    change_readiness,
    met_requirements,
    missing_requirements,
    page_of_requirement,
    requirement_checks,
)
from workspaces.automations.services.switching import (
    Capabilities,
    capabilities_of,
    reasons_beyond_slots,
    reasons_not_ready,
    switch_off,
    switch_on,
)

__all__ = [
    "AutomationNotFound",
    "Capabilities",
    "FlowRefused",
    "NameNeeded",
    "NotReady",
    "Origin",
    "ReadinessChanges",
    "RequirementCheck",
    "SlotNotFound",
    "SlotRefused",
    "asked_requirements",
    "capabilities_of",
    "change_readiness",
    "create_automation",
    "fill_slots",
    "install_automation",
    "met_requirements",
    "missing_requirements",
    "page_of_requirement",
    "publish_automation",
    "publishing_problems",
    "reasons_beyond_slots",
    "reasons_not_ready",
    "remove_automation",
    "rename_automation",
    "requirement_checks",
    "save_draft",
    "switch_off",
    "switch_on",
]
