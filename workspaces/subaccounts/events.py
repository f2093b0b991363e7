"""Names of the events that an agency gets about its sub-accounts; `hooks` declares them."""

WORKSPACE_CREATED = "workspace.created"
WORKSPACE_SUSPENDED = "workspace.suspended"
WORKSPACE_RESTORED = "workspace.restored"
SUBSCRIPTION_CHANGED = "subscription.changed"
ADDON_GRANTED = "addon.granted"
ADDON_REVOKED = "addon.revoked"
