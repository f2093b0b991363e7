"""Steps that change what is known about the contact."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import Choice, Name, Own, Text
from workspaces.automations.flows.types import StepType

TAG = Text(name="tag", label=_("Tag"), most=60)

STEPS = (
    StepType(name="add_tag", label=_("Add a tag"), fields=(TAG,)),
    StepType(name="remove_tag", label=_("Remove a tag"), fields=(TAG,)),
    StepType(
        name="set_field",
        label=_("Set a contact field"),
        fields=(Name(name="field", label=_("Field")), Text(name="value", label=_("Value"), most=500)),
    ),
    StepType(
        name="move_stage",
        label=_("Move to a pipeline stage"),
        fields=(
            Own(name="pipeline", label=_("Pipeline"), of="pipeline", required=False),
            Own(name="stage", label=_("Pipeline stage"), of="pipeline_stage"),
        ),
    ),
    StepType(
        name="subscription",
        label=_("Change what the contact receives"),
        fields=(Choice(name="change", label=_("Change"), options=("subscribe", "unsubscribe")),),
    ),
)
