"""Creates, changes, suspends and restores sub-accounts, and moves them to another agency."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from agency.actors import Actor
from agency.limits import unlimited
from agency.models import Agency, Event, Invitation, Mail, Plan
from agency.services import default_plan_of, record_activity
from agency.services.agencies import lock_agencies, require_no_web_addresses
from agency.services.events import DISPATCHER
from agency.services.invitations import handler_of
from agency.services.mail.queue import queue_invitation
from config.celery import wake_up
from config.db import CurrentTransaction, database_now, name_key, violated_constraint
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from config.hooks import Registry
from workspaces.subaccounts import events
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.owners import attach_owner, owner_links, send_owner_link
from workspaces.subaccounts.services.recording import (
    lock_workspace,
    record_sub_account_event,
    record_workspace_activity,
)
from workspaces.subaccounts.services.settings import checked_settings, hours_as_text


class WorkspaceNotFound(NotFound):
    message = "Sub-account not found."


class ExternalIdTaken(InvalidInput):
    field = "external_id"
    message = "Another sub-account has this external id."


class WorkspaceChanges(TypedDict, total=False):
    """The fields that may be changed at any time. A field left out stays."""

    name: str
    business_type: str | None
    timezone: str
    external_id: str | None
    metadata: dict[str, str]
    currency: str
    opening_hours: Mapping[str, list[list[str]]]
    address: str
    phone: str
    email: str
    website: str
    booking_link: str
    review_link: str
    menu_link: str
    two_factor_required: bool
    first_steps_hidden: bool


def save_workspace(workspace: Workspace, **options: Any) -> None:
    """Save a row. Raises `ExternalIdTaken`, after which the caller's transaction cannot go on."""
    try:
        workspace.save(**options)
    except IntegrityError as error:
        if violated_constraint(error) == "workspace_external_id_once_per_agency":
            raise ExternalIdTaken from error
        raise


@transaction.atomic
def change_workspace(*, workspace: Workspace, by: Actor, **changes: Unpack[WorkspaceChanges]) -> Workspace:
    """Change a sub-account's fields and settings. Fields left out stay.

    Raises `ExternalIdTaken`, `OpeningHoursRefused`, `SettingRefused`.
    """
    require_no_web_addresses(name=changes.get("name", ""))
    wanted = checked_settings(changes)
    workspace = lock_workspace(workspace)
    if "external_id" in wanted:
        wanted["external_id"] = wanted["external_id"] or None
    before = {field: getattr(workspace, field) for field in wanted}
    changed = {field: value for field, value in wanted.items() if before[field] != value}
    for field, value in changed.items():
        setattr(workspace, field, value)
    if changed:
        workspace.name_key = name_key(workspace.name)
        save_workspace(workspace, update_fields=[*changed, "name_key"])
        details = {"metadata": _changed_names(before["metadata"], changed["metadata"])} if "metadata" in changed else {}
        made = {field: _as_text(field, before[field], value) for field, value in changed.items()}
        record_workspace_activity(workspace=workspace, action="workspace.changed", by=by, details=details, changes=made)
    return workspace


def _changed_names(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Give the names of the changed metadata. The values are left out, because they may be long and personal."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _as_text(field: str, before: Any, after: Any) -> tuple[Any, Any]:
    """Give a field's former and new value, with opening hours as a line of text."""
    return (hours_as_text(before), hours_as_text(after)) if field == "opening_hours" else (before, after)


@transaction.atomic
def suspend_workspace(*, workspace: Workspace, now: datetime, by: Actor, reason: str = "") -> Workspace:
    """Suspend a sub-account. A suspended one stays as it is, without an event."""
    workspace = lock_workspace(workspace)
    if workspace.is_active:
        workspace.status, workspace.suspended_at = Workspace.Status.SUSPENDED, now
        workspace.suspension_reason = reason
        workspace.save(update_fields=["status", "suspended_at", "suspension_reason"])
        record_workspace_activity(workspace=workspace, action="workspace.suspended", by=by, details={"reason": reason})
        record_sub_account_event(workspace=workspace, event=events.WORKSPACE_SUSPENDED, now=now)
    return workspace


@transaction.atomic
def restore_workspace(*, workspace: Workspace, now: datetime, by: Actor, reason: str = "") -> Workspace:
    """Lift a sub-account's suspension. An active one stays as it is, without an event."""
    workspace = lock_workspace(workspace)
    if not workspace.is_active:
        workspace.status, workspace.suspended_at = Workspace.Status.ACTIVE, None
        workspace.suspension_reason, workspace.restored_at = "", database_now()
        workspace.save(update_fields=["status", "suspended_at", "suspension_reason", "restored_at"])
        details = {"reason": reason} if reason else {}
        record_workspace_activity(workspace=workspace, action="workspace.restored", by=by, details=details)
        record_sub_account_event(workspace=workspace, event=events.WORKSPACE_RESTORED, now=now)
    return workspace


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
    check_sub_account_limit(agency)
    save_workspace(workspace, force_insert=True)
    return workspace


def check_sub_account_limit(agency: Agency) -> None:
    """Raise `SubAccountLimitReached` if the agency has no room. Locks the agency only if it has a limit."""
    limited = Agency.objects.select_for_update(no_key=True).filter(pk=agency.pk, max_sub_accounts__isnull=False)
    locked = limited.only("max_sub_accounts", "sub_account_count").first()
    if locked and locked.max_sub_accounts is not None and locked.sub_account_count >= locked.max_sub_accounts:
        raise SubAccountLimitReached


def is_below_sub_account_limit(agency: Agency) -> bool:
    """Say whether an agency may have one more sub-account, by the values that were read; it takes no lock."""
    return agency.max_sub_accounts is None or agency.sub_account_count < agency.max_sub_accounts


# The table's trigger (migration 0002) allows another agency only with this setting, which holds for the transaction.
ALLOW_MOVING = "SELECT set_config('agency.workspace', 'move', true)"


class TargetAgencySuspended(Conflict):
    message = "The agency to move it to is suspended."


class MovedMeanwhile(Conflict):
    message = "This sub-account was moved meanwhile. Check it and try again."


@dataclass(frozen=True, slots=True)
class MoveHandler:
    """An app's changes to its rows that name the agency.

    `move` is called under the locks of both agencies and the workspace. The workspace's agency is still the old one.
    """

    name: str
    move: Callable[[Workspace, Agency, datetime, Actor], None]


move_handlers = Registry[MoveHandler](
    "handlers of moved sub-accounts",
    called=(
        "`move_workspace` calls each in the order of the apps, under the locks of both agencies and the "
        "workspace, before it moves its own rows"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


@transaction.atomic
def move_workspace(*, workspace: Workspace, agency: Agency, now: datetime, by: Actor) -> Workspace:
    """Move a sub-account to another agency, without an event. A move to its present agency changes nothing.

    It keeps its limits as a copy without a plan, until the new agency assigns a plan. The old agency's data about it is
    removed: plan, add-ons, external id, metadata, the reason for a suspension. Records of the past stay with the old
    agency. Raises `SubAccountLimitReached`, `TargetAgencySuspended`, `MovedMeanwhile`.
    """
    agencies = lock_agencies({workspace.agency_id, agency.pk})
    moved: Workspace = Workspace.objects.select_for_update().get(pk=workspace.pk)
    source, target = agencies.get(moved.agency_id), agencies[agency.pk]
    if source is None:
        raise MovedMeanwhile
    if source == target:
        return moved
    if not target.is_active:
        raise TargetAgencySuspended
    if not is_below_sub_account_limit(target):
        raise SubAccountLimitReached
    for handler in move_handlers:
        handler.move(moved, target, now, by)
    _move_invitations(moved, target, now)
    _move_new_events(moved, target)
    _move_row(moved, target, now)
    for one in (source, target):
        record_activity(
            by=by,
            action="workspace.moved",
            agency_id=one.pk,
            workspace_uuid=moved.uuid,
            target=("workspace", moved.uuid, moved.name),
        )
    return moved


def _move_row(moved: Workspace, target: Agency, now: datetime) -> None:
    values = {
        "agency": target,
        "former_agencies": {**moved.former_agencies, str(moved.agency_id): now.isoformat()},
        "plan": None,
        "plan_limits": moved.limits,
        "external_id": None,
        "metadata": {},
        "suspension_reason": "",
    }
    moved.held_addons.all().delete()
    for field, value in values.items():
        setattr(moved, field, value)
    with connection.cursor() as cursor:
        cursor.execute(ALLOW_MOVING)
    moved.save(update_fields=list(values))


def _move_invitations(moved: Workspace, target: Agency, now: datetime) -> None:
    """Hand open invitations and their unsent e-mails over to the new agency.

    Links that were sent lead to the old agency's hosts, where they no longer work. They are sent again.
    """
    Invitation.objects.filter(workspace_uuid=moved.uuid, status=Invitation.Status.OPEN).update(agency=target)
    of_workspace = Q(invitation__workspace_uuid=moved.uuid) | Q(
        kind=Mail.Kind.OWNER_INVITATION, context__workspace_uuid=str(moved.uuid)
    )
    waiting = Mail.objects.select_for_update(of=("self",)).filter(
        of_workspace, agency=moved.agency_id, sent_at=None, given_up_at=None
    )
    for mail in waiting:
        mail.agency, mail.context = target, {**mail.context, "agency": target.name}
        mail.save(update_fields=["agency", "context"])
    _send_links_again(moved, target, now)


def _send_links_again(moved: Workspace, target: Agency, now: datetime) -> None:
    open_ones = Invitation.objects.filter(
        workspace_uuid=moved.uuid, status=Invitation.Status.OPEN, expires_at__gt=now
    ).select_related("agency")
    unsent = Mail.objects.filter(invitation__workspace_uuid=moved.uuid, sent_at=None, given_up_at=None)
    for invitation in open_ones.exclude(pk__in=unsent.values("invitation")).order_by("pk"):
        handler = handler_of(invitation)
        queue_invitation(kind=handler.mail_kind, invitation=invitation, context=handler.names(invitation))
    links = owner_links(moved)
    if moved.owner.has_usable_password() or moved.owner_pending_since or not links.exists():
        return
    if not links.filter(sent_at=None, given_up_at=None).exists():
        send_owner_link(moved, target)


def _move_new_events(moved: Workspace, target: Agency) -> None:
    """Move the workspace's events that have no deliveries yet, because endpoints are looked up by agency."""
    new = Event.objects.filter(agency=moved.agency_id, workspace_id=moved.pk, fanned_out_at=None)
    new.update(agency=target, position=CurrentTransaction())
    wake_up(DISPATCHER)
