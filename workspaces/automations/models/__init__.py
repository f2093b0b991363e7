"""The tables of automations."""

from workspaces.automations.models.ai import AgencyAiBudget, AgencyAiUsage, AiAccount, AiUsage
from workspaces.automations.models.automations import Automation, AutomationQuerySet, AutomationVersion, DraftRevision
from workspaces.automations.models.calls import AppointmentReminder, InternalCall, OutsideCall
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
    "AppointmentReminder",
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
    "InternalCall",
    "OutsideCall",
    "PendingCount",
    "TriggerEvent",
    "TriggerGeneration",
]
