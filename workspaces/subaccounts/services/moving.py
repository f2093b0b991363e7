"""Moving a sub-account to another agency, such as that of a customer who becomes a reseller."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Q

from agency.actors import Actor
from agency.models import Agency, Event, Invitation, Mail
from agency.services import record_activity
from agency.services.agencies import lock_agencies
from agency.services.events import DISPATCHER
from agency.services.invitations import handler_of
from agency.services.mail.queue import queue_invitation
from config.celery import wake_up
from config.db import CurrentTransaction
from config.errors import Conflict
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.people.owners import owner_links, send_owner_link
from workspaces.subaccounts.services.provisioning import SubAccountLimitReached, agency_has_room

# The table's trigger (migration 0002) allows another agency only with this setting, which holds for the transaction.
ALLOW_MOVING = "SELECT set_config('agency.workspace', 'move', true)"


class TargetIsSuspended(Conflict):
    message = "The agency to move it to is suspended."


class MovedMeanwhile(Conflict):
    message = "This sub-account was moved meanwhile. Look at it again."


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
    agency. Raises `SubAccountLimitReached`, `TargetIsSuspended`, `MovedMeanwhile`.
    """
    agencies = lock_agencies({workspace.agency_id, agency.pk})
    moved: Workspace = Workspace.objects.select_for_update().get(pk=workspace.pk)
    source, target = agencies.get(moved.agency_id), agencies[agency.pk]
    if source is None:
        raise MovedMeanwhile
    if source == target:
        return moved
    if not target.is_active:
        raise TargetIsSuspended
    if not agency_has_room(target):
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
