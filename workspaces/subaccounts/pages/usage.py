"""What a sub-account uses of its limits, as console and dashboard show it."""

from dataclasses import dataclass

from agency import limits
from agency.pages.registry import StrOrPromise
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.subscription.near_limits import LEAST_LIMIT
from workspaces.subaccounts.services.subscription.usage import usage


@dataclass(frozen=True, slots=True)
class UsedLimit:
    """One limit's label, what is used of it and what is allowed, None for no limit."""

    label: StrOrPromise
    used: int
    allowed: int | None

    @property
    def is_reached(self) -> bool:
        """Whether there is no room left; what is not in the plan at all and not used is not reached."""
        return self.allowed is not None and self.used >= self.allowed and self.used > 0

    @property
    def is_meant_to_be_full(self) -> bool:
        """Whether the limit is so small that it is there to be used up, such as one number."""
        return self.allowed is not None and self.allowed < LEAST_LIMIT

    @property
    def is_idle(self) -> bool:
        """Whether nothing is used, and nothing is limited: the line says nothing of this sub-account."""
        return self.used == 0 and self.allowed is None

    @property
    def matters(self) -> bool:
        """Whether a customer has a use for this line."""
        return self.used > 0 or bool(self.allowed)


def limits_against_use(workspace: Workspace) -> list[UsedLimit]:
    """Give every limit against what is used of it."""
    used = usage(workspace)
    return [UsedLimit(label, used[name], limits.value(workspace.limits, name)) for name, label in limits.LABELS.items()]
