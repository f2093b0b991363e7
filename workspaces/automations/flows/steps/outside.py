"""Steps that reach out of the flow; none of them may go into a pack."""

from workspaces.automations.flows.fields import AgencyAccount, Choice, Many, Name, Own, Text
from workspaces.automations.flows.types import StepType

STEPS = (
    StepType(
        name="http_call",
        label="Call a web address",
        fields=(
            Choice(name="method", label="Method", options=("GET", "POST", "PUT", "PATCH", "DELETE")),
            Own(name="url", label="Web address", of="url"),
            Many(
                name="headers",
                label="Headers",
                of=(Text(name="name", label="Header", most=100), Own(name="value", label="Value", of="secret")),
                required=False,
            ),
            Own(name="body", label="Body", of="secret", required=False),
            Name(name="save_as", label="Name of the answer", required=False),
        ),
        ports=("success", "failure"),
        barred="calls a web address of its own",
    ),
    StepType(
        name="custom_code",
        label="Run code",
        fields=(Own(name="code", label="Code", of="secret"),),
        ports=("success", "failure"),
        barred="runs code of its own",
    ),
    StepType(
        name="start_automation",
        label="Jump to another automation",
        fields=(Own(name="automation", label="Automation", of="automation"),),
        ports=("next",),
        barred="jumps to another automation, which would stay behind",
    ),
    StepType(
        name="connected_app",
        label="Use a connected app",
        fields=(
            Own(name="connection", label="Connected app", of="connection"),
            Own(name="action", label="Action", of="secret"),
            AgencyAccount(name="account", label="App account"),
        ),
        ports=("success", "failure"),
        barred="uses an app that is connected to this one workspace",
    ),
)
