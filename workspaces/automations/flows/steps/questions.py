"""Steps that ask questions and store the answers."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import Choice, Flag, Many, Name, Number, Text
from workspaces.automations.flows.steps.messages import LABEL, TAPPABLE
from workspaces.automations.flows.types import StepType

CHATS = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat")
KEEP = Name(name="save_as", label=_("Name of the answer"))
ANSWERS = ("text", "number", "email", "phone", "date", "file")
PATIENCE = Number(name="wait_hours", label=_("Hours to wait for an answer"), least=1, most=168, required=False)

STEPS = (
    StepType(
        name="ask_question",
        label=_("Ask a question"),
        fields=(
            Text(name="text", label=_("Question")),
            Choice(name="expects", label=_("Kind of answer"), options=ANSWERS),
            KEEP,
            PATIENCE,
        ),
        ports=("answered", "no_answer"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="ask_choice",
        label=_("Ask to choose"),
        fields=(
            Text(name="text", label=_("Question")),
            Many(name="options", label=_("Options"), of=(LABEL,), most=10),
            KEEP,
            PATIENCE,
        ),
        ports=("other", "no_answer"),
        port_per=("option", "options"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="ask_rating",
        label=_("Ask for a rating"),
        fields=(Text(name="text", label=_("Question")), KEEP, PATIENCE),
        ports=("happy", "unhappy", "no_answer"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="ask_consent",
        label=_("Ask for consent"),
        fields=(
            Text(name="text", label=_("Question")),
            Choice(name="purpose", label=_("What for"), options=("marketing", "reminders", "data_storage")),
            Flag(name="double_check", label=_("Ask twice"), required=False),
        ),
        ports=("agreed", "declined"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="wait_for_reply",
        label=_("Wait for a reply"),
        fields=(Number(name="hours", label=_("Hours"), least=1, most=168),),
        ports=("replied", "no_reply"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="show_quick_replies",
        label=_("Send quick replies"),
        fields=(Text(name="text", label=_("Text")), Many(name="replies", label=_("Replies"), of=(LABEL,), most=10)),
        ports=("other",),
        port_per=("reply", "replies"),
        channels=tuple(kind for kind in TAPPABLE if kind != "whatsapp"),
        waits=True,
    ),
)
