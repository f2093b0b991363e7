"""Steps that note something about the contact."""

from workspaces.automations.flows.fields import Choice, Name, Own, Text
from workspaces.automations.flows.types import StepType

TAG = Text(name="tag", label="Tag", most=60)

STEPS = (
    StepType(name="add_tag", label="Add a tag", fields=(TAG,)),
    StepType(name="remove_tag", label="Remove a tag", fields=(TAG,)),
    StepType(
        name="set_field",
        label="Set a contact field",
        fields=(Name(name="field", label="Field"), Text(name="value", label="Value", most=500)),
    ),
    StepType(
        name="move_stage",
        label="Move to a pipeline stage",
        fields=(
            Own(name="pipeline", label="Pipeline", of="pipeline", required=False),
            Own(name="stage", label="Pipeline stage", of="pipeline_stage"),
        ),
    ),
    StepType(
        name="subscription",
        label="Change what the contact receives",
        fields=(Choice(name="change", label="Change", options=("subscribe", "unsubscribe")),),
    ),
)
