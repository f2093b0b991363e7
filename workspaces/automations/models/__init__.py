"""The tables of automations."""

from workspaces.automations.models.ai import AgencyAiBudget, AgencyAiUsage, AiAccount, AiUsage
from workspaces.automations.models.automations import (
    Automation,
    AutomationQuerySet,
    AutomationVersion,
    DraftRevision,
    Readiness,
)
from workspaces.automations.models.calls import OutsideCall
from workspaces.automations.models.runs import (
    AutomationCount,
    AutomationPause,
    AutomationRun,
    AutomationRunStep,
    ContactQueue,
    EngineBatch,
    PendingCount,
    TriggerEvent,
    TriggerGeneration,
)

__all__ = [
    "AgencyAiBudget",
    "AgencyAiUsage",
    "AiAccount",
    "AiUsage",
    "Automation",
    "AutomationCount",
    "AutomationPause",
    "AutomationQuerySet",
    "AutomationRun",
    "AutomationRunStep",
    "AutomationVersion",
    "ContactQueue",
    "DraftRevision",
    "EngineBatch",
    "OutsideCall",
    "PendingCount",
    "Readiness",
    "TriggerEvent",
    "TriggerGeneration",
]
