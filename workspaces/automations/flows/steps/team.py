"""Steps that bring people in."""

from workspaces.automations.flows.fields import AgencyAccount, Choice, Many, Number, Own, Text
from workspaces.automations.flows.types import StepType

AGENT = Own(name="agent", label="Person", of="agent", required=False)
TEAM = Own(name="team", label="Team", of="team", required=False)

STEPS = (
    StepType(name="assign", label="Assign the conversation", fields=(AGENT, TEAM)),
    StepType(
        name="hand_over",
        label="Hand over to a person",
        fields=(Text(name="text", label="Text", required=False), TEAM),
    ),
    StepType(
        name="notify_team",
        label="Notify the team",
        fields=(
            Text(name="text", label="Text"),
            Choice(name="by", label="How", options=("app", "email", "sms"), required=False),
            Many(
                name="recipients",
                label="Recipients",
                of=(Own(name="email", label="E-mail address", of="email"),),
                required=False,
            ),
            AgencyAccount(name="sender", label="Sender account"),
        ),
    ),
    StepType(
        name="create_task",
        label="Create a task",
        fields=(
            Text(name="title", label="Title", most=200),
            Number(name="due_hours", label="Due in hours", least=1, most=720, required=False),
            AGENT,
        ),
    ),
    StepType(name="add_note", label="Add a note", fields=(Text(name="text", label="Note", most=2_000),)),
    StepType(name="close_conversation", label="Close the conversation", ports=()),
)
