"""Whether a workspace has what its automations require."""

from collections.abc import Callable, Iterable

from django.db import transaction

from agency.actors import Actor
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.models import Readiness
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.telling import note

Check = Callable[[Workspace], bool]
_checks: dict[str, Check] = {}


def register_requirement_check(name: str, check: Check) -> None:
    """Let a feature answer for a requirement itself, instead of the workspace's `Readiness` row."""
    if name not in REQUIREMENTS:
        raise LookupError(f"{name} is no requirement.")
    _checks[name] = check


def asked_requirements() -> dict[str, str]:
    """Give the requirements, with their words, that no feature answers for: their owner is asked."""
    return {name: words for name, words in REQUIREMENTS.items() if name not in _checks}


def met_requirements(workspace: Workspace) -> set[str]:
    """Give the names of everything that the workspace has: one statement, and one for each registered check."""
    row = Readiness.objects.filter(workspace=workspace).first() or Readiness(workspace=workspace)
    return {name for name in REQUIREMENTS if (_checks[name](workspace) if name in _checks else getattr(row, name))}


def missing_requirements(*, workspace: Workspace, names: Iterable[str]) -> list[str]:
    """Give those of these requirements that the workspace does not meet, in the order given."""
    names = list(names)
    met = met_requirements(workspace) if names else set()
    return [name for name in names if name not in met]


@transaction.atomic
def note_readiness(*, workspace: Workspace, by: Actor, **facts: bool) -> Readiness:
    """Note what a workspace now has or has no longer: `note_readiness(workspace=…, payment=True, by=…)`."""
    Readiness.objects.bulk_create([Readiness(workspace=workspace)], ignore_conflicts=True)
    row = Readiness.objects.select_for_update().get(workspace=workspace)
    changed = {name: value for name, value in facts.items() if getattr(row, name) != value}
    for name, value in changed.items():
        setattr(row, name, value)
    if changed:
        row.save(update_fields=list(changed))
        note(workspace=workspace, action="readiness.changed", by=by, details=changed)
    return row
