"""Steps that branch and that wait."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import Choice, Many, Number, Own, Text, Variable
from workspaces.automations.flows.types import StepType

STEPS = (
    StepType(
        name="condition",
        label=_("Check a condition"),
        fields=(
            Choice(name="match", label=_("Match"), options=("all", "any")),
            Many(
                name="rules",
                label=_("Rules"),
                of=(
                    Variable(name="variable", label=_("What is compared")),
                    Choice(
                        name="operator",
                        label=_("Comparison"),
                        options=("is", "is_not", "contains", "is_set", "is_not_set", "more_than", "less_than"),
                    ),
                    Text(name="value", label=_("Value"), most=200, required=False),
                ),
            ),
        ),
        ports=("yes", "no"),
    ),
    StepType(
        name="has_tag",
        label=_("Check a tag"),
        fields=(Text(name="tag", label=_("Tag"), most=60),),
        ports=("yes", "no"),
    ),
    StepType(
        name="split",
        label=_("Split at random"),
        fields=(
            Many(
                name="parts",
                label=_("Parts"),
                of=(Number(name="percent", label=_("Per cent"), least=1, most=99),),
                most=5,
            ),
        ),
        ports=(),
        port_per=("part", "parts"),
    ),
    StepType(
        name="wait",
        label=_("Wait"),
        fields=(
            Number(name="amount", label=_("How long"), least=1, most=365),
            Choice(name="unit", label=_("Unit"), options=("minutes", "hours", "days")),
        ),
        waits=True,
    ),
    StepType(
        name="wait_until",
        label=_("Wait for a moment"),
        fields=(
            Choice(
                name="moment",
                label=_("Moment"),
                options=("next_opening", "before_appointment", "after_appointment", "morning", "evening"),
            ),
            Number(name="hours", label=_("Hours before or after"), least=1, most=720, required=False),
        ),
        waits=True,
    ),
    StepType(
        name="working_hours",
        label=_("Check the working hours"),
        fields=(Own(name="calendar", label=_("Calendar"), of="calendar", required=False),),
        ports=("open", "closed"),
        requires=("availability",),
    ),
)
