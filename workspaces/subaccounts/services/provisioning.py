"""The creation of a sub-account with its owner, plan and limits."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.limits import unlimited
from agency.models import Agency, Plan
from agency.services import default_plan_of
from agency.services.agencies import require_no_web_addresses
from config.db import name_key
from config.errors import Forbidden
from workspaces.subaccounts import events
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.people.owners import attach_owner
from workspaces.subaccounts.services.recording import record_sub_account_event, record_workspace_activity
from workspaces.subaccounts.services.workspaces import save_workspace


class SubAccountLimitReached(Forbidden):
    message = "The sub-account limit of this agency is reached."


@transaction.atomic
def create_workspace(
    *,
    agency: Agency,
    name: str,
    owner_name: str,
    owner_email: str,
    now: datetime,
    by: Actor,
    plan: Plan | None = None,
    business_type: str | None = None,
    timezone: str = "UTC",
    external_id: str | None = None,
    metadata: dict[str, str] | None = None,
    ask_owner: bool = True,
    is_announced: bool = True,
) -> Workspace:
    """Create a sub-account. An owner who does not belong to the agency yet is invited by e-mail (`attach_owner`).

    Without `plan` it gets the agency's default plan, if there is one. Without `is_announced` it has no event; a further
    workspace that a customer adds is not announced. The row itself is saved last: it is counted in the agency's row,
    and all other creations wait for that row's lock until this one is committed.

    Raises `SubAccountLimitReached` past the agency's limit, and `ExternalIdTaken`.
    """
    require_no_web_addresses(name=name)
    plan = plan or default_plan_of(agency)
    workspace = Workspace(
        agency=agency,
        name=name.strip(),
        name_key=name_key(name),
        plan=plan,
        plan_limits=plan.limits if plan else None,
        limits=plan.limits if plan else unlimited(),
        business_type=business_type,
        timezone=timezone,
        external_id=external_id or None,
        metadata=metadata or {},
        created_at=now,
    )
    attach_owner(workspace=workspace, name=owner_name, email=owner_email, now=now, by=by, ask_owner=ask_owner)
    record_workspace_activity(workspace=workspace, action="workspace.created", by=by)
    if is_announced:
        record_sub_account_event(workspace=workspace, event=events.WORKSPACE_CREATED, now=now)
    require_agency_room(agency)
    save_workspace(workspace, force_insert=True)
    return workspace


def require_agency_room(agency: Agency) -> None:
    """Raise `SubAccountLimitReached` if the agency has no room. Locks the agency only if it has a limit."""
    limited = Agency.objects.select_for_update(no_key=True).filter(pk=agency.pk, max_sub_accounts__isnull=False)
    locked = limited.only("max_sub_accounts", "sub_account_count").first()
    if locked and locked.max_sub_accounts is not None and locked.sub_account_count >= locked.max_sub_accounts:
        raise SubAccountLimitReached


def agency_has_room(agency: Agency) -> bool:
    """Say whether an agency may have one more sub-account, by the values that were read; it takes no lock."""
    return agency.max_sub_accounts is None or agency.sub_account_count < agency.max_sub_accounts
