"""E-mails: queued as rows with the change that causes them, sent by a worker, tried again when the server is away.

One worker sends them one after another, so that `mail_limits` counts exactly.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from agency.models import Agency, Invitation, Mail, User
from agency.services.mail.limits import has_enough, room_at
from config.db import database_now

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
ATTEMPTS = 12
LONGEST_WAIT = timedelta(hours=1)
OVERDUE = timedelta(minutes=2)
# One address may be mistyped; that several e-mails fail again is the server's doing.
FAILING_TRIES = FAILING_MAILS = 3


# The links of invitations are good as long as their rows say; nothing of a link is stored.
INVITATION_LINKS = signing.Signer(salt="agency.invitation")


def queue_mail(*, kind: Mail.Kind, user: User, context: dict[str, Any], agency: Agency | None = None) -> Mail:
    """Queue an e-mail to a person; it leaves only if the change around it is committed."""
    return _queue(kind=kind, user=user, recipient=user.email, agency=agency, context=context)


def queue_invitation(*, kind: Mail.Kind, invitation: Invitation, context: dict[str, Any]) -> Mail:
    """Queue an e-mail with the link to an invitation, to whoever reads at its address."""
    return _queue(
        kind=kind, invitation=invitation, recipient=invitation.email, agency=invitation.agency, context=context
    )


def _queue(**fields: Any) -> Mail:
    return Mail.objects.create(created_at=Now(), next_attempt_at=Now(), **fields)


def due_mail(*, now: datetime) -> Mail | None:
    """Lease the next e-mail: nobody else takes it for two minutes, and a crash only delays it."""
    with transaction.atomic():
        mail = (
            Mail.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("user", "invitation")
            .filter(sent_at=None, given_up_at=None, attempts__lt=ATTEMPTS, next_attempt_at__lte=now)
            .order_by("next_attempt_at")
            .first()
        )
        if mail:
            mail.attempts += 1
            mail.next_attempt_at = now + LEASE
            mail.save(update_fields=["attempts", "next_attempt_at"])
        return mail


def send_next_mail() -> bool:
    """Send the e-mail that has been due for longest by the database's clock; False when there is none."""
    mail = due_mail(now=database_now())
    if mail is not None:
        send_due_mail(mail=mail, now=database_now())
    return mail is not None


def send_due_mail(*, mail: Mail, now: datetime) -> bool:
    """Send one leased e-mail; on failure wait longer each time and give up after twelve tries.

    One that is out of date by now, or one too many for its recipient, is given up unsent; one that is too many for its
    agency's hour waits for the next.
    """
    if _is_out_of_date(mail, now) or has_enough(mail, now):
        Mail.objects.filter(pk=mail.pk).update(given_up_at=now)
        logger.info("mail withheld", extra={"mail": mail.pk, "kind": mail.kind})
        return False
    room = room_at(mail, now)
    if room > now:
        Mail.objects.filter(pk=mail.pk).update(next_attempt_at=room, attempts=mail.attempts - 1)
        return False
    try:
        write_mail(mail).send()
    except OSError as error:  # every failure of smtplib and of the socket below it
        _put_off(mail, now, type(error).__name__)
        return False
    Mail.objects.filter(pk=mail.pk).update(sent_at=now)
    return True


def write_mail(mail: Mail) -> EmailMessage:
    """Render an e-mail; its link is made here and kept nowhere. No subject holds what a tenant has written."""
    link = invitation_link(mail.invitation) if mail.invitation else password_link(mail.user) if mail.user else ""
    context = {**mail.context, "link": link, "user": mail.user}
    subject = render_to_string(f"mail/{mail.kind}_subject.txt").strip()
    return EmailMessage(subject, render_to_string(f"mail/{mail.kind}.txt", context), to=[mail.recipient])


def password_link(user: User) -> str:
    """Give the address, good for three days and once, at which a person sets a password."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("account:set-password", args=[uid, default_token_generator.make_token(user)])
    return f"{settings.PUBLIC_URL}{path}"


def invitation_link(invitation: Invitation) -> str:
    """Give the address at which an invitation is answered, as long as it is open."""
    path = reverse("account:invitation-link", args=[INVITATION_LINKS.sign(invitation.uuid.hex)])
    return f"{settings.PUBLIC_URL}{path}"


def _is_out_of_date(mail: Mail, now: datetime) -> bool:
    """Say whether what an e-mail asks for has been done, or cannot be done any more."""
    if mail.invitation:
        return not mail.invitation.is_open or mail.invitation.expires_at <= now
    return mail.kind == Mail.Kind.OWNER_INVITATION and bool(mail.user and mail.user.has_usable_password())


def _put_off(mail: Mail, now: datetime, reason: str) -> None:
    wait = min(timedelta(seconds=10 * 2**mail.attempts), LONGEST_WAIT)
    given_up = now if mail.attempts >= ATTEMPTS else None
    Mail.objects.filter(pk=mail.pk).update(next_attempt_at=now + wait, given_up_at=given_up)
    logger.warning("mail not sent", extra={"mail": mail.pk, "attempt": mail.attempts, "reason": reason})


def mail_keeps_up() -> bool:
    """Say whether e-mails leave: none is overdue, and not several have failed again and again."""
    waiting = Mail.objects.filter(sent_at=None, given_up_at=None)
    if waiting.filter(next_attempt_at__lt=Now() - OVERDUE).exists():
        return False
    return waiting.filter(attempts__gte=FAILING_TRIES)[:FAILING_MAILS].count() < FAILING_MAILS
