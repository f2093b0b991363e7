"""The tables of automations."""

from workspaces.automations.models.automations import (
    Automation,
    AutomationQuerySet,
    AutomationVersion,
    DraftRevision,
    Readiness,
)
from workspaces.automations.models.runs import (
    AutomationCount,
    AutomationPause,
    AutomationRun,
    AutomationRunStep,
    ContactQueue,
    EngineBatch,
    TriggerEvent,
    TriggerGeneration,
)

__all__ = [
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
    "Readiness",
    "TriggerEvent",
    "TriggerGeneration",
]
