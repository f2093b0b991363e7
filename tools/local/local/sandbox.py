"""The sandbox provider that a development system connects channels at, unless a real app is set up."""

import os

from tools.local.ports import free_port
from tools.local.supervisor import Child, python
from tools.local.variables import public_url

from tools.sandbox.config import SandboxConfig, variables

CONSENT_RETURNS = "/connect/callback"
NOTICES_ARRIVE = "/connect/provider-events"


def sandbox_provider(port: int) -> tuple[tuple[Child, ...], dict[str, str]]:
    """Give the process and the variables that lead to it; nothing when `META_APP_ID` names a real app."""
    if os.environ.get("META_APP_ID"):
        return (), {}
    here, own_port = public_url(port), free_port(0)
    command = python(
        *("-m", "tools.sandbox", "--port", str(own_port)),
        *("--redirect-uri", here + CONSENT_RETURNS),
        *("--callback-url", here + NOTICES_ARRIVE),
    )
    return (Child("sandbox", command),), variables(f"http://127.0.0.1:{own_port}", SandboxConfig.read())
