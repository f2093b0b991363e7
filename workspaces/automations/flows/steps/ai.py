"""Steps in which the A.I. reads or writes."""

from workspaces.automations.flows.fields import AgencyAccount, Choice, Many, Name, Number, Own, Text
from workspaces.automations.flows.steps.questions import CHATS
from workspaces.automations.flows.types import StepType

MODEL = AgencyAccount(name="account", label="A.I. account")

STEPS = (
    StepType(
        name="ai_answer",
        label="Let the A.I. answer",
        fields=(
            Text(name="instructions", label="Instructions", most=4_000),
            Choice(name="tone", label="Tone", options=("friendly", "professional", "short")),
            Own(name="knowledge", label="Knowledge base", of="knowledge", required=False),
            Number(name="turns", label="Answers at most", least=1, most=20, required=False),
            MODEL,
        ),
        ports=("answered", "unsure"),
        ai=True,
        waits=True,
    ),
    StepType(
        name="ai_classify",
        label="Let the A.I. sort the message",
        fields=(
            Many(
                name="topics",
                label="Topics",
                of=(
                    Text(name="title", label="Topic", most=60),
                    Text(name="description", label="Description of the topic", most=300, required=False),
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
        label="Let the A.I. pick out details",
        fields=(
            Many(
                name="details",
                label="Details",
                of=(Name(name="save_as", label="Name of the detail"), Text(name="what", label="What it is", most=200)),
            ),
            MODEL,
        ),
        ports=("found", "not_found"),
        channels=CHATS,
        ai=True,
    ),
)
