"""The order of e-mails: those that people wait for first, then agencies in turn, however many each has."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models.functions import Coalesce

from agency.models import Mail
from agency.services.mail.limits import SIGN_UPS
from agency.services.mail.queue import BYTES_OF_MAIL
from agency.services.mail.routes import OF_AGENCIES

LEASE: Final = timedelta(minutes=2)
NOTICES: Final = frozenset({Mail.Kind.TWO_FACTOR_CHANGED, Mail.Kind.RECOVERY_CODE_USED, Mail.Kind.NEW_SIGN_IN})
# People who cannot sign in, or must know at once, come first. People who look at a page that says "see your e-mails"
# come next. E-mails that nobody expects yet come last, such as the invitations of an import.
IN_ORDER: Final = ({Mail.Kind.PASSWORD_RESET} | NOTICES, SIGN_UPS | {Mail.Kind.TEST})
# Reads the first entry of the index for each agency (0 for none) and kind, which has been due for longest, and skips
# the other waiting e-mails, however many there are.
FIRST: Final = """
WITH RECURSIVE first AS (
    (
        SELECT COALESCE(agency_id, 0) AS agency, kind, next_attempt_at FROM agency_mail
        WHERE sent_at IS NULL AND given_up_at IS NULL
        ORDER BY COALESCE(agency_id, 0), kind, next_attempt_at LIMIT 1
    )
    UNION ALL
    SELECT following.agency, following.kind, following.next_attempt_at FROM first CROSS JOIN LATERAL (
        SELECT COALESCE(agency_id, 0) AS agency, kind, next_attempt_at FROM agency_mail
        WHERE sent_at IS NULL AND given_up_at IS NULL
            AND (COALESCE(agency_id, 0), kind) > (first.agency, first.kind)
        ORDER BY COALESCE(agency_id, 0), kind, next_attempt_at LIMIT 1
    ) AS following
)
"""
IS_ANY_DUE: Final = f"{FIRST} SELECT kind FROM first WHERE next_attempt_at <= statement_timestamp() LIMIT 1"  # noqa: S608  # texts of our own
DUE: Final = f"""{FIRST}
SELECT first.agency, first.kind, first.next_attempt_at,
    server.host IS NOT NULL,
    COALESCE(
        server.carries_account_links AND server.verified_at IS NOT NULL
        AND (server.resting_until IS NULL OR server.resting_until <= %(now)s),
        FALSE
    )
FROM first LEFT JOIN agency_mailsettings AS server ON server.agency_id = first.agency AND server.host <> ''
WHERE first.next_attempt_at <= %(now)s
"""  # noqa: S608  # texts of our own


@dataclass(frozen=True, slots=True)
class DueMails:
    """The due e-mails of one kind and one agency (0 for none), due since `since`.

    With `by_own` the agency's own server takes them.
    """

    agency: int
    kind: str
    since: datetime
    by_own: bool


@dataclass(frozen=True, slots=True)
class Busy:
    """What is being sent: no recipient gets two e-mails at once, and each server takes one after another.

    `agencies` are those whose own servers are busy; None means that no other own server may begin.
    """

    installation: bool = False
    agencies: Collection[int] | None = ()
    recipients: Collection[str] = ()

    def leaves(self, due: DueMails) -> bool:
        """Return whether an e-mail of these may begin meanwhile."""
        if due.by_own:
            return self.agencies is not None and due.agency not in self.agencies
        return not self.installation


NOTHING: Final = Busy()


class Turns:
    """When each agency had its last turn at the installation's server, and at its own."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, bool], int] = {}
        self._count = 0

    def end_turn(self, due: DueMails) -> None:
        self._count += 1
        self._last[due.agency, due.by_own] = self._count

    def order(self, due: DueMails) -> tuple[int, int, datetime]:
        """Return a sort key: urgency, then whose last turn is longest ago."""
        rank = next((rank for rank, kinds in enumerate(IN_ORDER) if due.kind in kinds), len(IN_ORDER))
        return rank, self._last.get((due.agency, due.by_own), 0), due.since


def due_mail(*, now: datetime, busy: Busy = NOTHING, turns: Turns | None = None) -> Mail | None:
    """Lease the next e-mail for two minutes, in which no other process takes it.

    An e-mail whose last attempt died too is leased once more, so that the sender gives it up.
    """
    turns = turns or Turns()
    with transaction.atomic():
        for due in sorted(filter(busy.leaves, _due(now)), key=turns.order):
            mail = _first_of(due, now, busy)
            if mail is not None:
                turns.end_turn(due)
                mail.attempts += 1
                mail.next_attempt_at = now + LEASE
                mail.save(update_fields=["attempts", "next_attempt_at"])
                return mail
    return None


def _due(now: datetime) -> list[DueMails]:
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"now": now})
        return [
            DueMails(agency, kind, since, has_server if kind == Mail.Kind.TEST else is_used and kind in OF_AGENCIES)
            for agency, kind, since, has_server, is_used in cursor.fetchall()
        ]


def _first_of(due: DueMails, now: datetime, busy: Busy) -> Mail | None:
    """Lock the first of these e-mails that no other process has locked."""
    waiting = Mail.objects.alias(tenant=Coalesce("agency", 0)).filter(tenant=due.agency, kind=due.kind)
    return (
        waiting.select_for_update(skip_locked=True, of=("self",))
        .select_related("user", "invitation", "agency__mail_settings", "agency__brand")
        .defer(*BYTES_OF_MAIL)
        .filter(sent_at=None, given_up_at=None, next_attempt_at__lte=now)
        .exclude(recipient__in=busy.recipients)
        .order_by("next_attempt_at")
        .first()
    )
