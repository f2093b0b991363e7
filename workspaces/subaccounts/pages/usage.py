"""A sub-account's use of its limits, as the console and the dashboard show it."""

from dataclasses import dataclass

from agency import limits
from agency.pages.registry import StrOrPromise
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.subscription.near_limits import LEAST_LIMIT
from workspaces.subaccounts.services.subscription.usage import usage


@dataclass(frozen=True, slots=True)
class UsedLimit:
    """A limit with its label, how much is used, and how much is allowed; None means no limit."""

    label: StrOrPromise
    used: int
    allowed: int | None

    @property
    def is_reached(self) -> bool:
        """Say whether there is no room left. A limit with nothing used, such as 0, is not reached."""
        return self.allowed is not None and self.used >= self.allowed and self.used > 0

    @property
    def is_meant_to_be_full(self) -> bool:
        """Say whether the limit is so small that it is meant to be used up, such as one number."""
        return self.allowed is not None and self.allowed < LEAST_LIMIT

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is used and nothing is limited. The console's page shows such lines apart."""
        return self.used == 0 and self.allowed is None

    @property
    def matters(self) -> bool:
        """Say whether this line is useful to a customer."""
        return self.used > 0 or bool(self.allowed)


def limits_against_use(workspace: Workspace) -> list[UsedLimit]:
    """Give every limit with how much of it is used."""
    used = usage(workspace)
    return [UsedLimit(label, used[name], limits.value(workspace.limits, name)) for name, label in limits.LABELS.items()]
