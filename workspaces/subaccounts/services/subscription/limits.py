"""A sub-account's limits, and the check that there is room for more."""

from agency import limits
from config.errors import InvalidInput
from workspaces.subaccounts.models import Workspace


class LimitReached(InvalidInput):
    """A write would pass a limit of the sub-account's plan and add-ons."""

    field = "limit"

    def __init__(self, name: str, allowed: int) -> None:
        self.name = name
        label = (limits.SINGULAR_LABELS if allowed == 1 else limits.LABELS)[name]
        super().__init__(f"The plan of this sub-account allows {allowed} {label}.", field=name)


def recompute_limits(workspace: Workspace) -> limits.Limits:
    """Sum the stored limits of the plan and each add-on. Without a plan nothing is limited. Caller holds the lock."""
    plan = limits.unlimited() if workspace.plan_limits is None else workspace.plan_limits
    total = limits.total([plan, *workspace.held_addons.values_list("limits", flat=True)])
    workspace.limits = total
    return total


def require_room(*, workspace: Workspace, name: str, used: int, adding: int = 1) -> None:
    """Raise `LimitReached` if `adding` more would pass the limit called `name`. Caller holds the workspace's lock."""
    allowed = limits.value(workspace.limits, name)
    if allowed is not None and used + adding > allowed:
        raise LimitReached(name, allowed)
