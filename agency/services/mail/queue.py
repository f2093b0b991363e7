"""The queue of e-mails: rows written with the change that causes them, until a worker has sent them."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from agency.models import Agency, Invitation, Mail, User
from agency.models.branding.brands import BYTES_OF_AGENCY
from agency.services.mail.routes import own_mail
from config.db import database_now

ATTEMPTS = 12
OVERDUE = timedelta(minutes=2)
# A single address may be mistyped; if several e-mails fail again and again, it is the server's fault.
FAILING_TRIES = FAILING_MAILS = 3
BYTES_OF_MAIL = tuple(f"agency__{name}" for name in BYTES_OF_AGENCY)


def queue_mail(*, kind: Mail.Kind, user: User, context: dict[str, Any], agency: Agency | None = None) -> Mail:
    """Queue an e-mail to a person; it is sent only if the change around it is committed."""
    return _queue(kind=kind, user=user, recipient=user.email, agency=agency, context=context)


def queue_invitation(*, kind: Mail.Kind, invitation: Invitation, context: dict[str, Any]) -> Mail:
    """Queue an e-mail with the link to an invitation, to the invitation's address."""
    return _queue(
        kind=kind, invitation=invitation, recipient=invitation.email, agency=invitation.agency, context=context
    )


def queue_to_address(*, kind: Mail.Kind, recipient: str, context: dict[str, Any], agency: Agency | None = None) -> Mail:
    """Queue an e-mail to an address that may belong to nobody yet."""
    return _queue(kind=kind, recipient=recipient, agency=agency, context=context)


def _queue(**fields: Any) -> Mail:
    return Mail.objects.create(created_at=Now(), next_attempt_at=Now(), **fields)


def requeue(rows: "QuerySet[Mail]", now: datetime) -> Mail | None:
    """Queue again the only e-mail of these rows, if it was given up and was not queued again yet; its row stays."""
    if not rows.filter(given_up_at__isnull=False, queued_again_at=None).exclude(failure="").update(queued_again_at=now):
        return None
    again = copy_of(rows.get())
    again.save(force_insert=True)
    return again


def copy_of(mail: Mail) -> Mail:
    """Return an unsaved copy of an e-mail; its link is made when it is sent."""
    same = ("kind", "user_id", "recipient", "agency_id", "invitation_id", "context")
    return Mail(**{name: getattr(mail, name) for name in same}, created_at=Now(), next_attempt_at=Now())


def waiting_at_installation() -> "QuerySet[Mail]":
    """Return the waiting e-mails of the installation's server, without those of agencies' own servers.

    An agency's server that is slow or away is no fault of ours.
    """
    return Mail.objects.filter(sent_at=None, given_up_at=None).filter(~own_mail(database_now()))


def mail_keeps_up() -> bool:
    """Return whether e-mails are sent: none is overdue, and fewer than `FAILING_MAILS` fail again and again."""
    waiting = waiting_at_installation()
    if waiting.filter(next_attempt_at__lt=Now() - OVERDUE).exists():
        return False
    failing = waiting.filter(attempts__gte=FAILING_TRIES, by_own_server=False)
    return failing[:FAILING_MAILS].count() < FAILING_MAILS
