"""Owners of a sub-account: invited, invited again, replaced, handed over, left."""

from datetime import datetime
from typing import cast
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, TextChoices
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from agency.actors import Actor
from agency.models import Agency, Invitation, Mail, Member, User
from agency.services import InvitationEnded, queue_mail
from agency.services.agencies import lock_agency, require_no_web_addresses
from agency.services.invitations import (
    InvitationHandler,
    accept_invitation,
    open_invitation,
    renew_invitation,
    without_network_address,
)
from agency.services.members import find_or_create_user
from config.db import database_now
from config.errors import Conflict, NotFound
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.models.workspaces import owner_key
from workspaces.subaccounts.services.members import (
    WorkspaceMemberNotFound,
    invitation_names,
    remove_workspace_member,
    run_removal_handlers,
    waiting_invitations,
)
from workspaces.subaccounts.services.notifications import notify_of_accepted_owner
from workspaces.subaccounts.services.recording import lock_workspace, record_workspace_activity

OWNER_FIELDS = ("owner", "owner_name", "owner_email", "owner_key", "owner_pending_since")


class OwnerState(TextChoices):
    """Whether a sub-account has an owner who can use it."""

    WAITING = "waiting", _("Invitation pending")
    GONE = "gone", _("Declined or left")
    SIGNED_UP = "signed_up", _("")


class OwnerHasPassword(Conflict):
    message = "The owner of this sub-account has set a password already."


class NotTheOwner(NotFound):
    message = "Sub-account not found."


def set_owner(workspace: Workspace, *, owner: User, name: str) -> None:
    """Set a sub-account's owner, and the name that the agency gives them. Does not save the sub-account."""
    workspace.owner, workspace.owner_name, workspace.owner_email = owner, name, owner.email
    workspace.owner_key = owner_key(name, owner.email)
    if workspace.pk:  # an owner is neither a member nor invited as one
        workspace.members.filter(user=owner).delete()
        invited = waiting_invitations(workspace).filter(email=owner.email)
        invited.update(status=Invitation.Status.WITHDRAWN, ended_at=Now())


def attach_owner(
    *, workspace: Workspace, name: str, email: str, now: datetime, by: Actor, ask_owner: bool = True
) -> None:
    """Set the owner of a sub-account that the caller then saves, and invite them if necessary.

    A person who already belongs to this agency owns it at once; without a password they get a link to set one. All
    others are invited, and own nothing before they accept. These are new people, who set a password with the link, and
    people of other tenants. Both are handled alike, so that the agency does not learn who has an account elsewhere. The
    sub-account shows the name and address that were sent, never those stored for the person.

    Without `ask_owner` the person owns it at once and nothing is sent. This is for the operator's commands, and for
    people who create a sub-account for themselves.
    """
    require_no_web_addresses(owner__name=name)
    owner, _ = find_or_create_user(email=email, name=name)
    is_theirs = not ask_owner or belongs_to(owner, workspace.agency)
    set_owner(workspace, owner=owner, name=name)
    if not ask_owner:
        return
    workspace.owner_pending_since = None if is_theirs else now
    if workspace.owner_pending_since:
        _invite_owner(workspace, now, by)
    elif not owner.has_usable_password():
        send_owner_link(workspace, workspace.agency)


def belongs_to(user: User, agency: Agency) -> bool:
    """Say whether a person is a member of an agency or, with their consent, in one of its sub-accounts."""
    is_customer: bool = Workspace.objects.of(agency).of_person(user).exists()
    return is_customer or Member.objects.filter(user=user, agency=agency).exists()


def owner_state(workspace: Workspace) -> OwnerState:
    """Give the owner's state, as far as the agency may know it."""
    if workspace.owner_pending_since:
        asked = Invitation.objects.to_own(workspace.uuid).order_by("-id").first()
        return OwnerState.WAITING if asked and asked.is_open else OwnerState.GONE
    return OwnerState.SIGNED_UP if workspace.owner.has_usable_password() else OwnerState.WAITING


@transaction.atomic
def resend_owner_invitation(*, workspace: Workspace, now: datetime, by: Actor) -> Workspace:
    """Send a sub-account's owner the invitation again. Raises `OwnerHasPassword` if they have accepted it."""
    lock_agency(workspace.agency_id)
    workspace = lock_workspace(workspace)
    if workspace.owner_pending_since:
        waiting = _waiting(workspace).first()
        if waiting:
            renew_invitation(waiting, now)
        else:
            _invite_owner(workspace, now, by)
    elif workspace.owner.has_usable_password():
        raise OwnerHasPassword
    else:
        send_owner_link(workspace, workspace.agency)
    record_workspace_activity(workspace=workspace, action="workspace.owner_invited", by=by)
    return workspace


@transaction.atomic
def change_owner(*, workspace: Workspace, name: str, email: str, now: datetime, by: Actor) -> Workspace:
    """Replace a sub-account's owner. `attach_owner` invites the new one. The same address changes only the name."""
    lock_agency(workspace.agency_id)
    workspace = lock_workspace(workspace)
    before = [getattr(workspace, field) for field in OWNER_FIELDS]
    former, former_owner = workspace.owner_email, workspace.owner
    if workspace.owner_email == email.strip().lower():
        require_no_web_addresses(owner__name=name)
        set_owner(workspace, owner=workspace.owner, name=name)
    else:
        withdraw_owner_invitation(workspace)
        attach_owner(workspace=workspace, name=name, email=email, now=now, by=by)
    if [getattr(workspace, field) for field in OWNER_FIELDS] != before:
        workspace.save(update_fields=OWNER_FIELDS)
        # Only the address is recorded: an erasure finds people by their address, but not by a former name.
        changes = {"email": (former, workspace.owner_email)}
        record_workspace_activity(workspace=workspace, action="workspace.owner_replaced", by=by, changes=changes)
    if workspace.owner != former_owner:
        run_removal_handlers(workspace, former_owner, now)
    return workspace


@transaction.atomic
def transfer_ownership(*, member: WorkspaceMember, now: datetime, by: Actor) -> Workspace:
    """Make a member the owner and the owner a member, at once. Both have accepted the workspace before.

    Raises `WorkspaceMemberNotFound` if the member has left meanwhile, and `NotTheOwner` if the caller is not, or is no
    longer, the owner.
    """
    lock_agency(member.workspace.agency_id)
    workspace = lock_workspace(member.workspace)
    found = workspace.members.select_related("user").filter(pk=member.pk).first()
    if found is None:
        raise WorkspaceMemberNotFound
    if workspace.owner_pending_since or by.id != str(workspace.owner_id):
        raise NotTheOwner
    former = workspace.owner
    set_owner(workspace, owner=found.user, name=found.user.name or found.user.email)
    workspace.save(update_fields=OWNER_FIELDS)
    WorkspaceMember.objects.create(workspace=workspace, user=former, created_at=now)
    changes = {"email": (former.email, workspace.owner_email)}
    record_workspace_activity(workspace=workspace, action="workspace.owner_handed_over", by=by, changes=changes)
    return workspace


@transaction.atomic
def replace_owner(*, workspace: Workspace, owner: User, by: Actor) -> Workspace:
    """Give a sub-account to another person without asking them. Only the operator's commands do this."""
    lock_agency(workspace.agency_id)
    workspace = lock_workspace(workspace)
    before, former_owner = [getattr(workspace, field) for field in OWNER_FIELDS], workspace.owner
    withdraw_owner_invitation(workspace)
    set_owner(workspace, owner=owner, name=owner.name or owner.email)
    workspace.owner_pending_since = None
    if [getattr(workspace, field) for field in OWNER_FIELDS] != before:
        workspace.save(update_fields=OWNER_FIELDS)
        record_workspace_activity(workspace=workspace, action="workspace.owner_replaced", by=by)
    if workspace.owner != former_owner:
        run_removal_handlers(workspace, former_owner, database_now())
    return workspace


@transaction.atomic
def leave_workspace(*, workspace: Workspace, user: User, now: datetime, by: Actor) -> None:
    """Let a person leave a sub-account. If the owner leaves, the agency names another or invites them again.

    Its members go on working meanwhile. Raises `NotTheOwner` for a person who is not in it.
    """
    lock_agency(workspace.agency_id)
    workspace = lock_workspace(workspace)
    member = workspace.members.select_related("workspace").filter(user=user).first()
    if member:
        remove_workspace_member(member=member, now=now, by=by)
        return
    if workspace.owner_id != user.pk or workspace.owner_pending_since:
        raise NotTheOwner
    workspace.owner_pending_since = now
    workspace.save(update_fields=["owner_pending_since"])
    record_workspace_activity(workspace=workspace, action="workspace.owner_left", by=by)
    run_removal_handlers(workspace, user, now)


def withdraw_owner_invitation(workspace: Workspace) -> None:
    """Withdraw the owner's unanswered invitation. The caller holds the workspace's lock."""
    _waiting(workspace).update(status=Invitation.Status.WITHDRAWN, ended_at=Now())


def _accept(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    workspace = _lock_asked(invitation, user)
    workspace.owner_pending_since = None
    workspace.save(update_fields=["owner_pending_since"])
    record_workspace_activity(workspace=workspace, action="workspace.owner_accepted", by=by)
    notify_of_accepted_owner(workspace, now=now)


def _decline(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    workspace = _lock_asked(invitation, user)
    record_workspace_activity(workspace=workspace, action="workspace.owner_declined", by=without_network_address(by))


def _accept_other_invitations(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    """Accept the other sub-accounts that this agency set up for a person who sets their first password.

    Other agencies' invitations wait for an answer, because the person used the link of this agency only.
    """
    for workspace in Workspace.objects.of(invitation.agency).filter(owner=user).order_by("pk"):
        waiting = Invitation.objects.to_own(workspace.uuid).answerable(now).exclude(pk=invitation.pk).first()
        if waiting:
            accept_invitation(invitation=waiting, user=user, now=now, by=by)


def _lock_asked(invitation: Invitation, user: User) -> Workspace:
    asked = Workspace.objects.select_for_update(no_key=True)
    workspace: Workspace | None = asked.filter(uuid=cast(UUID, invitation.workspace_uuid), owner=user).first()
    if workspace is None:
        raise InvitationEnded
    return workspace


OWNERSHIP = InvitationHandler(
    "workspace",
    Mail.Kind.OWNERSHIP_INVITATION,
    _accept,
    _decline,
    invitation_names,
    first_password=_accept_other_invitations,
)


def _waiting(workspace: Workspace) -> "QuerySet[Invitation]":
    return Invitation.objects.to_own(workspace.uuid).waiting()


def _invite_owner(workspace: Workspace, now: datetime, by: Actor) -> None:
    open_invitation(
        agency=workspace.agency,
        workspace_uuid=workspace.uuid,
        email=workspace.owner_email,
        name=workspace.owner_name,
        names=_mail_names(workspace),
        now=now,
        by=by,
    )


def send_owner_link(workspace: Workspace, agency: Agency) -> None:
    """Queue the e-mail, in the agency's name, with the link that sets an owner's first password."""
    queue_mail(
        kind=Mail.Kind.OWNER_INVITATION,
        user=workspace.owner,
        agency=agency,
        context={"agency": agency.name, "workspace": workspace.name, "workspace_uuid": str(workspace.uuid)},
    )


def owner_links(workspace: Workspace) -> "QuerySet[Mail]":
    """Give the e-mails with such a link to the present owner, sent and queued."""
    sent = Mail.objects.filter(user=workspace.owner, kind=Mail.Kind.OWNER_INVITATION)
    return sent.filter(context__workspace_uuid=str(workspace.uuid))


def _mail_names(workspace: Workspace) -> dict[str, str]:
    return {"agency": workspace.agency.name, "workspace": workspace.name}
