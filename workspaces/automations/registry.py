"""The one registry: every type of trigger and step by its name."""

from workspaces.automations import triggers
from workspaces.automations.steps import ai, business, contacts, logic, messages, outside, questions, team
from workspaces.automations.types import StepType, TriggerType

STEPS: dict[str, StepType] = {
    step.name: step
    for module in (messages, questions, logic, contacts, team, business, ai, outside)
    for step in module.STEPS
}
TRIGGERS: dict[str, TriggerType] = {trigger.name: trigger for trigger in triggers.TYPES}
