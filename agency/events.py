"""The catalogue of agency events and the labels that people see for them."""

WORKSPACE_CREATED = "workspace.created"
WORKSPACE_SUSPENDED = "workspace.suspended"
WORKSPACE_RESTORED = "workspace.restored"
SUBSCRIPTION_CHANGED = "subscription.changed"
ADDON_GRANTED = "addon.granted"
ADDON_REVOKED = "addon.revoked"

LIFECYCLE: dict[str, str] = {
    WORKSPACE_CREATED: "Sub-account created",
    WORKSPACE_SUSPENDED: "Sub-account suspended",
    WORKSPACE_RESTORED: "Sub-account restored",
    SUBSCRIPTION_CHANGED: "Plan changed",
    ADDON_GRANTED: "Add-on granted",
    ADDON_REVOKED: "Add-on revoked",
}
