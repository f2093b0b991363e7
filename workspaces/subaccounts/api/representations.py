"""How sub-accounts and channels read on both surfaces."""

from typing import Any

from workspaces.subaccounts.models import Channel, Workspace


def card(workspace: Workspace) -> dict[str, Any]:
    """The card of a sub-account, everywhere one is returned."""
    plan = workspace.plan
    return {
        "uuid": workspace.uuid,
        "name": workspace.name,
        "status": workspace.status,
        "plan": {"uuid": plan.uuid, "name": plan.name} if plan else None,
        "owner": {"name": workspace.owner_name, "email": workspace.owner_email},
        "business_type": workspace.business_type,
        "timezone": workspace.timezone,
        "created_at": workspace.created_at,
        "suspended_at": workspace.suspended_at,
    }


def channel_card(channel: Channel) -> dict[str, Any]:
    """`{id, platform, name, status, handle, connected_at}`."""
    return {
        "id": channel.uuid,
        "platform": channel.platform,
        "name": channel.name,
        "status": channel.status,
        "handle": channel.handle,
        "connected_at": channel.connected_at,
    }
