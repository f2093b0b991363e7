"""Sample data of each event: what a test sends, what the documentation shows."""

from typing import Any

from agency import events

PLAN = {"uuid": "3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11", "name": "Growth"}
ADDON = {"uuid": "b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42", "name": "Extra WhatsApp number"}
WORKSPACE = {
    "uuid": "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10",
    "name": "Sample sub-account",
    "status": "active",
    "plan": PLAN,
}

SAMPLES: dict[str, dict[str, Any]] = {
    events.WORKSPACE_CREATED: {"workspace": WORKSPACE},
    events.WORKSPACE_SUSPENDED: {"workspace": {**WORKSPACE, "status": "suspended"}},
    events.WORKSPACE_RESTORED: {"workspace": WORKSPACE},
    events.SUBSCRIPTION_CHANGED: {"workspace": WORKSPACE, "plan": PLAN},
    events.ADDON_GRANTED: {"workspace": WORKSPACE, "addon": ADDON},
    events.ADDON_REVOKED: {"workspace": WORKSPACE, "addon": ADDON},
}


def sample_data(event: str) -> dict[str, Any]:
    """The `data` of an event of this name, about a sub-account that does not exist."""
    return SAMPLES[event]
