"""Names of the events that agencies get about sub-accounts, and workspaces about channels.

`hooks` declares them.
"""

WORKSPACE_CREATED = "workspace.created"
WORKSPACE_SUSPENDED = "workspace.suspended"
WORKSPACE_RESTORED = "workspace.restored"
SUBSCRIPTION_CHANGED = "subscription.changed"
ADDON_GRANTED = "addon.granted"
ADDON_REVOKED = "addon.revoked"
CHANNEL_CONNECTED = "channel.connected"
CHANNEL_ERROR = "channel.error"
CHANNEL_DISCONNECTED = "channel.disconnected"
CHANNEL_LIMIT_CHANGED = "channel.limit_changed"
