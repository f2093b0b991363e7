"""Steps that decide which way to go, and when."""

from workspaces.automations.flows.fields import Choice, Many, Number, Own, Text, Variable
from workspaces.automations.flows.types import StepType

STEPS = (
    StepType(
        name="condition",
        label="Check a condition",
        fields=(
            Choice(name="match", label="Match", options=("all", "any")),
            Many(
                name="rules",
                label="Rules",
                of=(
                    Variable(name="variable", label="What is compared"),
                    Choice(
                        name="operator",
                        label="Comparison",
                        options=("is", "is_not", "contains", "is_set", "is_not_set", "more_than", "less_than"),
                    ),
                    Text(name="value", label="Value", most=200, required=False),
                ),
            ),
        ),
        ports=("yes", "no"),
    ),
    StepType(
        name="has_tag",
        label="Check a tag",
        fields=(Text(name="tag", label="Tag", most=60),),
        ports=("yes", "no"),
    ),
    StepType(
        name="split",
        label="Split at random",
        fields=(
            Many(
                name="parts",
                label="Parts",
                of=(Number(name="percent", label="Per cent", least=1, most=99),),
                most=5,
            ),
        ),
        ports=(),
        port_per=("part", "parts"),
    ),
    StepType(
        name="wait",
        label="Wait",
        fields=(
            Number(name="amount", label="How long", least=1, most=365),
            Choice(name="unit", label="Unit", options=("minutes", "hours", "days")),
        ),
        waits=True,
    ),
    StepType(
        name="wait_until",
        label="Wait for a moment",
        fields=(
            Choice(
                name="moment",
                label="Moment",
                options=("next_opening", "before_appointment", "after_appointment", "morning", "evening"),
            ),
            Number(name="hours", label="Hours before or after", least=1, most=720, required=False),
        ),
        waits=True,
    ),
    StepType(
        name="working_hours",
        label="Check the working hours",
        fields=(Own(name="calendar", label="Calendar", of="calendar", required=False),),
        ports=("open", "closed"),
        requires=("availability",),
    ),
)
