"""How a plan and an add-on read in the activity log."""

from agency.models import Addon, Plan


def plan_reference(plan: Plan | None) -> dict[str, str] | None:
    """`{uuid, name}`, or None for a sub-account without a plan."""
    return {"uuid": str(plan.uuid), "name": plan.name} if plan else None


def addon_reference(addon: Addon) -> dict[str, str]:
    """`{uuid, name}`."""
    return {"uuid": str(addon.uuid), "name": addon.name}
