"""Finds the channels that notices are about, with one query for a batch."""

from collections.abc import Collection

from django.db import connection

from channelconnect.providers.notices import Account, Channels
from workspaces.conversations.facts import ChannelReference

# A disconnected channel accepts no more callbacks. A channel in error does, as long as the provider sends them.
FIND = """
SELECT channel.id, channel.platform, channel.external_id, workspace.id, workspace.uuid, workspace.agency_id,
    workspace.timezone
FROM unnest(%s::text[], %s::text[]) AS wanted (platform, external_id)
JOIN subaccounts_channel AS channel ON channel.platform = wanted.platform
    AND channel.external_id = wanted.external_id AND channel.status <> 'disconnected'
JOIN subaccounts_workspace AS workspace ON workspace.id = channel.workspace_id
"""


def channels_of(accounts: Collection[Account]) -> Channels:
    """Return the connected channels of these accounts."""
    if not accounts:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(FIND, [[platform for platform, _ in accounts], [external_id for _, external_id in accounts]])
        return {
            (platform, external_id): ChannelReference(
                id=key,
                platform=platform,
                workspace_id=workspace_id,
                workspace_uuid=workspace_uuid,
                agency_id=agency_id,
                timezone=timezone,
            )
            for key, platform, external_id, workspace_id, workspace_uuid, agency_id, timezone in cursor.fetchall()
        }
