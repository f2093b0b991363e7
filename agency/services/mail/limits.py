"""How many e-mails a person may get, and how many an agency may cause, counted over sent e-mails."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction

from agency.models import Mail

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
# The shortest wait of an agency whose hourly limit is reached, however many e-mails wait.
A_MOMENT = timedelta(minutes=1)
PUT_BACK_AT_ONCE: Final = 1_000
INVITATIONS = frozenset(
    {
        Mail.Kind.OWNER_INVITATION,
        Mail.Kind.OWNERSHIP_INVITATION,
        Mail.Kind.MEMBER_INVITATION,
        Mail.Kind.WORKSPACE_INVITATION,
    }
)
SIGN_UPS = frozenset({Mail.Kind.SIGN_UP_CONFIRMATION, Mail.Kind.SIGN_UP_KNOWN_ADDRESS})
MESSAGES = frozenset({Mail.Kind.AGENCY_MESSAGE})
RESETS = frozenset({Mail.Kind.PASSWORD_RESET})
# The kinds that count together, each with the part of an agency's hourly limit that they have (1 / number). Anybody can
# cause sign-ups and password links. Their own parts keep strangers from stopping an agency's invitations.
SHARES: Final = {INVITATIONS: 1, MESSAGES: 1, SIGN_UPS: 5, RESETS: 1}


@dataclass(frozen=True, slots=True)
class RecipientLimit:
    """At most `size` e-mails of these kinds to one address in a day, from one agency or from all together."""

    kinds: Iterable[str]
    size: int
    is_for_agency: bool = False

    def is_reached(self, mail: Mail, now: datetime) -> bool:
        if mail.kind not in self.kinds:
            return False
        sent = Mail.objects.filter(recipient=mail.recipient, sent_at__gt=now - DAY, kind__in=self.kinds)
        if self.is_for_agency:
            sent = sent.filter(agency=mail.agency_id)
        return sent[: self.size].count() >= self.size


# An earlier invitation or password link does the same as a later one.
RECIPIENT_LIMITS = (
    RecipientLimit(INVITATIONS, 5, is_for_agency=True),
    RecipientLimit(INVITATIONS, 20),
    RecipientLimit(MESSAGES, 5, is_for_agency=True),
    RecipientLimit(MESSAGES, 20),
    RecipientLimit(SIGN_UPS, 10, is_for_agency=True),
    RecipientLimit(SIGN_UPS, 20),
    RecipientLimit(RESETS, 30),
)


def has_enough(mail: Mail, now: datetime) -> bool:
    """Return whether the recipient has reached a limit of the day for this kind."""
    return any(limit.is_reached(mail, now) for limit in RECIPIENT_LIMITS)


def share_of(mail: Mail) -> frozenset[Mail.Kind] | None:
    """Return the kinds that count together with this e-mail; None if it has no hourly limit."""
    return next((share for share in SHARES if mail.kind in share), None) if mail.agency_id else None


def room_at(mail: Mail, now: datetime, *, in_flight: Iterable[str] = ()) -> datetime:
    """Return when the agency that caused this e-mail may send it: now, or as soon as its hourly limit allows.

    `in_flight` are the kinds of the agency's e-mails that are being sent, which count as sent. E-mails that people must
    get, such as notices about their account, have no hourly limit. A person's first password link within an hour is
    sent in any case, whatever others have asked for.
    """
    kinds = share_of(mail)
    if kinds is None or (kinds is RESETS and not _had_one(mail, now - HOUR)):
        return now
    sent = Mail.objects.filter(agency=mail.agency_id, sent_at__gt=now - HOUR, kind__in=kinds).order_by("-sent_at")
    most = max(1, settings.AGENCY_MAIL_LIMIT // SHARES[kinds]) - sum(kind in kinds for kind in in_flight)
    if most < 1:
        return now + A_MOMENT
    oldest = list(sent.values_list("sent_at", flat=True)[most - 1 : most])
    return max(oldest[0] + HOUR, now + A_MOMENT) if oldest and oldest[0] else now


def put_back_share(mail: Mail, room: datetime, now: datetime) -> None:
    """Put off the e-mails that count together with this one to the same time, a thousand at once.

    Password links are not put off together, as a person's first one is sent in any case.
    """
    kinds = share_of(mail)
    if kinds is None or kinds is RESETS:
        return
    with transaction.atomic():
        due = Mail.objects.filter(agency=mail.agency_id, kind__in=kinds, next_attempt_at__lte=now)
        waiting = due.filter(sent_at=None, given_up_at=None).select_for_update(skip_locked=True, of=("self",))
        pks = list(waiting.values_list("pk", flat=True)[:PUT_BACK_AT_ONCE])
        Mail.objects.filter(pk__in=pks).update(next_attempt_at=room)


def _had_one(mail: Mail, since: datetime) -> bool:
    return Mail.objects.filter(recipient=mail.recipient, sent_at__gt=since, kind=mail.kind).exists()
