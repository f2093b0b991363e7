"""How many e-mails somebody may get, and how many an agency may cause: counted over those that were sent."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from agency.models import Mail

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
INVITATIONS = frozenset({Mail.Kind.OWNER_INVITATION, Mail.Kind.OWNERSHIP_INVITATION, Mail.Kind.MEMBER_INVITATION})


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


# What an invitation and a link to set a password ask for can be done with an earlier one of them too.
RECIPIENT_LIMITS = (
    RecipientLimit(INVITATIONS, 5, is_for_agency=True),
    RecipientLimit(INVITATIONS, 20),
    RecipientLimit({Mail.Kind.PASSWORD_RESET}, 30),
)


def has_enough(mail: Mail, now: datetime) -> bool:
    """Say whether the recipient has had as many e-mails of this kind as anybody gets in a day."""
    return any(limit.is_reached(mail, now) for limit in RECIPIENT_LIMITS)


def room_at(mail: Mail, now: datetime) -> datetime:
    """Give when the agency that caused this e-mail may send it: now, or as soon as its hour has room again."""
    if mail.agency_id is None:
        return now
    sent = Mail.objects.filter(agency=mail.agency_id, sent_at__gt=now - HOUR).order_by("-sent_at")
    most = settings.AGENCY_MAIL_LIMIT
    oldest = list(sent.values_list("sent_at", flat=True)[most - 1 : most])
    return oldest[0] + HOUR if oldest and oldest[0] else now
