"""Invitations: sent, sent again, withdrawn, accepted, declined. Until it is accepted, an invitation gives no access."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency, Invitation, Mail, Member, User
from agency.services.activity import record_activity
from agency.services.agencies import lock_agency, require_no_web_addresses
from agency.services.mail.content import is_link_to
from agency.services.mail.queue import queue_invitation
from agency.services.members import AlreadyAMember, find_or_create_user, join_team
from agency.services.notifications.agency_kinds import notify_of_new_member
from config.errors import Conflict, InvalidInput, NotFound
from config.hooks import Registry

INVITATION_LASTS = timedelta(days=7)
# Keeps the team's page short, and a console from becoming a way to write to the whole world.
MOST_WAITING = 100


class AlreadyInvited(InvalidInput):
    field = "email"
    message = "This address is invited already. You can send the invitation again."


class TooManyInvitations(Conflict):
    message = f"{MOST_WAITING} invitations are waiting for an answer. Withdraw some of them first."


class InvitationNotFound(NotFound):
    message = "Invitation not found."


class InvitationEnded(Conflict):
    message = "This invitation no longer works."


class HasAPassword(Conflict):
    message = "There is an account with this address. Sign in to answer the invitation."


Answer = Callable[..., None]


def _nothing(**_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class InvitationHandler:
    """What the answers to invitations of one kind do, in the same transaction, and the e-mail with the link.

    All three functions are called with `invitation`, `user`, `now` and `by`. `first_password` is called when a person
    sets their first password with the link of any invitation. `names_of` returns what e-mails and pages mention of many
    invitations, in their order.
    """

    name: str
    mail_kind: Mail.Kind
    accept: Answer
    decline: Answer
    names_of: Callable[[Sequence[Invitation]], list[dict[str, str]]]
    first_password: Answer = _nothing

    def names(self, invitation: Invitation) -> dict[str, str]:
        """Return what the e-mail and the page of one invitation mention."""
        return self.names_of([invitation])[0]


invitation_handlers = Registry[InvitationHandler](
    "handlers of invitations",
    called=(
        "answers call `accept` or `decline` of the invitation's kind; `accept_with_password` first calls "
        "`first_password` of all, in the order of the apps; e-mails and pages call `names_of`"
    ),
    transaction="the caller's; on pages none",
    failure="rolls the caller back; the page answers 500",
)


def handler_of(invitation: Invitation) -> InvitationHandler:
    """Return the handler of an invitation's answers; every kind has its handler in the hooks of its app."""
    handler = invitation_handlers.get(invitation.kind)
    if handler is None:
        raise InvitationEnded
    return handler


def with_names(invitations: Sequence[Invitation]) -> list[tuple[Invitation, dict[str, str]]]:
    """Return invitations with the names that they mention, in their order, with one call for each kind."""
    of_kind: dict[str, list[Invitation]] = {}
    for one in invitations:
        of_kind.setdefault(one.kind, []).append(one)
    names = {
        one.pk: its
        for rows in of_kind.values()
        for one, its in zip(rows, handler_of(rows[0]).names_of(rows), strict=True)
    }
    return [(one, names[one.pk]) for one in invitations]


@transaction.atomic
def invite_member(*, agency: Agency, email: str, name: str, role: str, now: datetime, by: Actor) -> Invitation:
    """Invite an address to an agency's team, whether or not a person has it.

    Raises `AlreadyAMember`, `AlreadyInvited` and `TooManyInvitations`. An expired invitation gives way to a new one.
    """
    require_no_web_addresses(name=name)
    email = email.strip().lower()
    lock_agency(agency.pk)
    if Member.objects.filter(agency=agency, user__email=email).exists():
        raise AlreadyAMember
    waiting = Invitation.objects.filter(agency=agency, workspace_uuid=None, status=Invitation.Status.OPEN)
    waiting.filter(expires_at__lte=now).filter(email=email).update(status=Invitation.Status.WITHDRAWN, ended_at=now)
    if waiting.filter(email=email).exists():
        raise AlreadyInvited
    if waiting.count() >= MOST_WAITING:
        raise TooManyInvitations
    names = {"agency": agency.name}
    invitation = open_invitation(agency=agency, email=email, name=name, role=role, names=names, now=now, by=by)
    record_invitation(invitation, "member.invited", by)
    return invitation


def open_invitation(
    *,
    agency: Agency,
    email: str,
    name: str,
    now: datetime,
    by: Actor,
    names: dict[str, str],
    role: str = "",
    workspace_uuid: UUID | None = None,
) -> Invitation:
    """Create an invitation and queue its e-mail, which mentions `names`; the caller is inside a transaction."""
    invitation = Invitation.objects.create(
        agency=agency,
        workspace_uuid=workspace_uuid,
        email=email,
        name=name.strip(),
        role=role,
        invited_by=by.label,
        created_at=now,
        expires_at=now + INVITATION_LASTS,
    )
    queue_invitation(kind=handler_of(invitation).mail_kind, invitation=invitation, context=names)
    return invitation


@transaction.atomic
def send_invitation_again(*, invitation: Invitation, now: datetime, by: Actor) -> Invitation:
    """Send the link to a team again; the invitation, even an expired one, is valid for another seven days.

    Raises `InvitationNotFound` for an answered invitation.
    """
    invitation = renew_invitation(invitation, now)
    record_invitation(invitation, "invitation.sent_again", by)
    return invitation


def renew_invitation(invitation: Invitation, now: datetime) -> Invitation:
    """Send a link again, for another seven days; the caller is inside a transaction and records the activity."""
    invitation = _lock(invitation)
    invitation.expires_at = now + INVITATION_LASTS
    invitation.save(update_fields=["expires_at"])
    handler = handler_of(invitation)
    queue_invitation(kind=handler.mail_kind, invitation=invitation, context=handler.names(invitation))
    return invitation


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation, now: datetime, by: Actor) -> None:
    """Withdraw an invitation; its link no longer works. Raises `InvitationNotFound` for an answered invitation."""
    invitation = _lock(invitation)
    end_invitation(invitation, Invitation.Status.WITHDRAWN, now)
    record_invitation(invitation, "invitation.withdrawn", by)


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> Invitation:
    """Accept for the person with the invited address. Raises `InvitationEnded` if they can no longer accept it."""
    invitation = _lock_answerable(invitation, user.email, now)
    handler_of(invitation).accept(invitation=invitation, user=user, now=now, by=by)
    end_invitation(invitation, Invitation.Status.ACCEPTED, now)
    return invitation


@transaction.atomic
def decline_invitation(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> Invitation:
    """Decline an invitation, which gives no access. Raises `InvitationEnded` if they can no longer decline it."""
    invitation = _lock_answerable(invitation, user.email, now)
    handler_of(invitation).decline(invitation=invitation, user=user, now=now, by=by)
    end_invitation(invitation, Invitation.Status.DECLINED, now)
    return invitation


@transaction.atomic
def accept_with_password(*, invitation: Invitation, name: str, password: str, now: datetime, by: Actor) -> User:
    """Accept for a person without a password, who chooses one; the link proves that the address is theirs.

    Raises `HasAPassword` for an account that can sign in, and `InvitationEnded`.
    """
    require_no_web_addresses(name=name)
    invitation = _lock_answerable(invitation, invitation.email, now)
    found, _ = find_or_create_user(email=invitation.email, name=name)
    user = User.objects.select_for_update(no_key=True).get(pk=found.pk)
    if not user.is_active:
        raise InvitationEnded
    if user.has_usable_password():
        raise HasAPassword
    user.name = name.strip()
    user.set_password(password)
    user.save(update_fields=["name", "password"])
    record_activity(by=by, action="password.set", agency_id=None, target=("user", user.pk, user.email))
    for handler in invitation_handlers:
        handler.first_password(invitation=invitation, user=user, now=now, by=by)
    accept_invitation(invitation=invitation, user=user, now=now, by=by)
    return user


def invitation_of_link(token: str) -> Invitation | None:
    """Return the invitation that a link names, whatever its state.

    None for a made-up link, and for a link on a host that is no longer the agency's, as the present holder may read it.
    """
    try:
        uuid = UUID(token.partition(":")[0])
    except ValueError:
        return None
    found = Invitation.objects.select_related("agency").filter(uuid=uuid).first()
    return found if found and is_link_to(found, token) else None


def end_invitation(invitation: Invitation, status: Invitation.Status, now: datetime) -> None:
    """Record how a locked invitation ended."""
    invitation.status, invitation.ended_at = status, now
    invitation.save(update_fields=["status", "ended_at"])


def without_network_address(by: Actor) -> Actor:
    """Return the actor of a refusal without their network address, which the refused agency must not see."""
    return replace(by, address="")


def record_invitation(invitation: Invitation, action: str, by: Actor) -> None:
    record_activity(
        by=by,
        action=action,
        agency_id=invitation.agency_id,
        workspace_uuid=invitation.workspace_uuid,
        target=("invitation", invitation.uuid, invitation.email),
        details={"role": invitation.role} if invitation.role else None,
    )


def _lock(invitation: Invitation) -> Invitation:
    """Re-read an open invitation under its lock."""
    rows = Invitation.objects.select_for_update(of=("self",)).select_related("agency")
    found = rows.filter(pk=invitation.pk, status=Invitation.Status.OPEN).first()
    if found is None:
        raise InvitationNotFound
    return found


def _lock_answerable(invitation: Invitation, email: str, now: datetime) -> Invitation:
    """Re-read an invitation that this address may answer, under its lock; the agency is locked first, as everywhere."""
    lock_agency(invitation.agency_id)
    try:
        found = _lock(invitation)
    except InvitationNotFound as error:
        raise InvitationEnded from error
    if found.email != email or found.expires_at <= now:
        raise InvitationEnded
    return found


def _accept_team(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    join_team(agency=invitation.agency, user=user, role=invitation.role, by=by)
    notify_of_new_member(invitation, user=user, now=now)


def _decline_team(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    record_invitation(invitation, "invitation.declined", without_network_address(by))


def _team_names(invitations: Sequence[Invitation]) -> list[dict[str, str]]:
    return [{"agency": one.agency.name} for one in invitations]


TEAM = InvitationHandler("team", Mail.Kind.MEMBER_INVITATION, _accept_team, _decline_team, _team_names)
