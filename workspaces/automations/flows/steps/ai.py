"""Steps in which the A.I. reads or writes."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import AgencyAccount, Choice, Many, Name, Number, Own, Text
from workspaces.automations.flows.steps.questions import CHATS
from workspaces.automations.flows.types import StepType

MODEL = AgencyAccount(name="account", label=_("A.I. account"))

STEPS = (
    StepType(
        name="ai_answer",
        label=_("Let the A.I. answer"),
        fields=(
            Text(name="instructions", label=_("Instructions"), most=4_000),
            Choice(name="tone", label=_("Tone"), options=("friendly", "professional", "short")),
            Own(name="knowledge", label=_("Knowledge base"), of="knowledge", required=False),
            Number(name="turns", label=_("Answers at most"), least=1, most=20, required=False),
            MODEL,
        ),
        ports=("answered", "unsure"),
        ai=True,
        waits=True,
    ),
    StepType(
        name="ai_classify",
        label=_("Let the A.I. sort the message"),
        fields=(
            Many(
                name="topics",
                label=_("Topics"),
                of=(
                    Text(name="title", label=_("Topic"), most=60),
                    Text(name="description", label=_("Description of the topic"), most=300, required=False),
                ),
            ),
            MODEL,
        ),
        ports=("other",),
        port_per=("topic", "topics"),
        ai=True,
    ),
    StepType(
        name="ai_extract",
        label=_("Let the A.I. pick out details"),
        fields=(
            Many(
                name="details",
                label=_("Details"),
                of=(
                    Name(name="save_as", label=_("Name of the detail")),
                    Text(name="what", label=_("What it is"), most=200),
                ),
            ),
            MODEL,
        ),
        ports=("found", "not_found"),
        channels=CHATS,
        ai=True,
    ),
)
