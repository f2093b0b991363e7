"""Steps that reach out of the flow. They may not go into a pack."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import AgencyAccount, Choice, Many, Name, Own, Text
from workspaces.automations.flows.types import StepType

STEPS = (
    StepType(
        name="http_call",
        label=_("Call a web address"),
        fields=(
            Choice(name="method", label=_("Method"), options=("GET", "POST", "PUT", "PATCH", "DELETE")),
            Own(name="url", label=_("Web address"), of="url"),
            Many(
                name="headers",
                label=_("Headers"),
                of=(Text(name="name", label=_("Header"), most=100), Own(name="value", label=_("Value"), of="secret")),
                required=False,
            ),
            Own(name="body", label=_("Body"), of="secret", required=False),
            Name(name="save_as", label=_("Name of the answer"), required=False),
        ),
        ports=("success", "failure"),
        barred="calls a web address of its own",
    ),
    StepType(
        name="custom_code",
        label=_("Run code"),
        fields=(Own(name="code", label=_("Code"), of="secret"),),
        ports=("success", "failure"),
        barred="runs code of its own",
    ),
    StepType(
        name="start_automation",
        label=_("Jump to another automation"),
        fields=(Own(name="automation", label=_("Automation"), of="automation"),),
        ports=("next",),
        barred="jumps to another automation, which would stay behind",
    ),
    StepType(
        name="connected_app",
        label=_("Use a connected app"),
        fields=(
            Own(name="connection", label=_("Connected app"), of="connection"),
            Own(name="action", label=_("Action"), of="secret"),
            AgencyAccount(name="account", label=_("App account")),
        ),
        ports=("success", "failure"),
        barred="uses an app that is connected to this one workspace",
    ),
)
