"""The requirements of automations that a workspace meets."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from config.hooks import Registry
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.models import Readiness
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity


@dataclass(frozen=True, slots=True)
class RequirementCheck:
    """A feature's check of the requirement with this name. It replaces the column of the `Readiness` row.

    `url_name` is the page on which a customer can meet the requirement.
    """

    name: str
    is_met: Callable[[Workspace], bool]
    url_name: str = ""

    def __post_init__(self) -> None:
        if self.name not in REQUIREMENTS:
            raise LookupError(f"{self.name} is no requirement.")


requirement_checks = Registry[RequirementCheck](
    "requirement checks",
    called=(
        "`met_requirements` calls `is_met` of each, when automations are switched on and on pages that show what "
        "is missing"
    ),
    transaction="the caller's; on pages none",
    failure="rolls the caller back; the page answers 500",
)


def asked_requirements() -> dict[str, str]:
    """Give the requirements, with their labels, that no feature checks. The customer is asked about these."""
    return {name: label for name, label in REQUIREMENTS.items() if requirement_checks.get(name) is None}


def page_of_requirement(name: str) -> str:
    """Give the URL name of the page on which a requirement can be met; empty without one."""
    check = requirement_checks.get(name)
    return check.url_name if check else ""


def met_requirements(workspace: Workspace) -> set[str]:
    """Give the names of the requirements that the workspace meets: one statement, and one for each registered check."""
    row = Readiness.objects.filter(workspace=workspace).first() or Readiness(workspace=workspace)
    return {name for name in REQUIREMENTS if _is_met(name, workspace, row)}


def _is_met(name: str, workspace: Workspace, row: Readiness) -> bool:
    check = requirement_checks.get(name)
    return check.is_met(workspace) if check else getattr(row, name)


def missing_requirements(*, workspace: Workspace, names: Iterable[str]) -> list[str]:
    """Give the named requirements that the workspace does not meet, in the order given."""
    names = list(names)
    met = met_requirements(workspace) if names else set()
    return [name for name in names if name not in met]


class ReadinessChanges(TypedDict, total=False):
    """Whether the workspace now meets each requirement. Requirements left out stay."""

    service: bool
    availability: bool
    booking_page: bool
    payment: bool
    contact: bool
    template: bool


@transaction.atomic
def change_readiness(*, workspace: Workspace, by: Actor, **changes: Unpack[ReadinessChanges]) -> Readiness:
    """Store which requirements a workspace meets: `change_readiness(workspace=…, payment=True, by=…)`."""
    Readiness.objects.bulk_create([Readiness(workspace=workspace)], ignore_conflicts=True)
    row = Readiness.objects.select_for_update().get(workspace=workspace)
    changed = {name: value for name, value in changes.items() if getattr(row, name) != value}
    made = changes_to(row, changed)
    for name, value in changed.items():
        setattr(row, name, value)
    if changed:
        row.save(update_fields=list(changed))
        record_workspace_activity(workspace=workspace, action="readiness.changed", by=by, changes=made)
    return row
