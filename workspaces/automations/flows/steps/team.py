"""Steps that involve the team."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import AgencyAccount, Choice, Many, Number, Own, Text
from workspaces.automations.flows.types import StepType

MEMBER = Own(name="agent", label=_("Person"), of="member", required=False)
TEAM = Own(name="team", label=_("Team"), of="team", required=False)

STEPS = (
    StepType(name="assign", label=_("Assign the conversation"), fields=(MEMBER, TEAM)),
    StepType(
        name="hand_over",
        label=_("Hand over to a person"),
        fields=(Text(name="text", label=_("Text"), required=False), TEAM),
    ),
    StepType(
        name="notify_team",
        label=_("Notify the team"),
        fields=(
            Text(name="text", label=_("Text")),
            Choice(name="by", label=_("How"), options=("app", "email", "sms"), required=False),
            Many(
                name="recipients",
                label=_("Recipients"),
                of=(Own(name="email", label=_("E-mail address"), of="email"),),
                required=False,
            ),
            AgencyAccount(name="sender", label=_("Sender account")),
        ),
    ),
    StepType(
        name="create_task",
        label=_("Create a task"),
        fields=(
            Text(name="title", label=_("Title"), most=200),
            Number(name="due_hours", label=_("Due in hours"), least=1, most=720, required=False),
            MEMBER,
        ),
    ),
    StepType(name="add_note", label=_("Add a note"), fields=(Text(name="text", label=_("Note"), most=2_000),)),
    StepType(name="close_conversation", label=_("Close the conversation"), ports=()),
)
