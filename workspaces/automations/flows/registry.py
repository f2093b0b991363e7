"""The registry of all types of triggers and steps by their names."""

from workspaces.automations.flows import triggers
from workspaces.automations.flows.steps import ai, business, contacts, logic, messages, outside, questions, team
from workspaces.automations.flows.types import StepType, TriggerType

STEPS: dict[str, StepType] = {
    step.name: step
    for module in (messages, questions, logic, contacts, team, business, ai, outside)
    for step in module.STEPS
}
TRIGGERS: dict[str, TriggerType] = {trigger.name: trigger for trigger in triggers.TYPES}
