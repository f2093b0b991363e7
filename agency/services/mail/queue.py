"""The queue of e-mails: rows written with their cause, the order and the limits of sending, the server that sends."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from agency.models import Agency, Domain, Invitation, Mail, MailSettings, User
from agency.models.branding import AGENCY_PICTURE_BYTE_FIELDS
from config.db import database_now

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
# The shortest wait of an agency whose hourly limit is reached, however many e-mails wait.
SHORTEST_WAIT = timedelta(minutes=1)
PUT_BACK_AT_ONCE: Final = 1_000
INSERTED_AT_ONCE: Final = 500
Context = Mapping[str, object]
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
BOOKING_CODES = frozenset({Mail.Kind.BOOKING_CODE})
INVOICES = frozenset({Mail.Kind.INVOICE})
# These may go to contacts whose addresses a customer has typed, as invoices do.
MOVED_UP = frozenset({Mail.Kind.SEAT_MOVED_UP})
# The kinds that count together, each with the part of an agency's hourly limit that they have (1 / number). Anybody can
# cause sign-ups, password links and booking codes. Their own parts keep strangers from stopping an agency's
# invitations.
QUOTA_DIVISORS: Final = {
    INVITATIONS: 1,
    MESSAGES: 1,
    SIGN_UPS: 5,
    RESETS: 1,
    BOOKING_CODES: 2,
    INVOICES: 1,
    MOVED_UP: 1,
}


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
    RecipientLimit(BOOKING_CODES, 10, is_for_agency=True),
    RecipientLimit(BOOKING_CODES, 20),
    RecipientLimit(INVOICES, 20, is_for_agency=True),
    RecipientLimit(INVOICES, 50),
    RecipientLimit(MOVED_UP, 20, is_for_agency=True),
    RecipientLimit(MOVED_UP, 50),
)


def recipient_limit_reached(mail: Mail, now: datetime) -> bool:
    """Return whether the recipient has reached a limit of the day for this kind."""
    return any(limit.is_reached(mail, now) for limit in RECIPIENT_LIMITS)


def quota_group_of(mail: Mail) -> frozenset[Mail.Kind] | None:
    """Return the kinds that count together with this e-mail; None if it has no hourly limit."""
    return next((share for share in QUOTA_DIVISORS if mail.kind in share), None) if mail.agency_id else None


def allowed_at(mail: Mail, now: datetime, *, in_flight: Iterable[str] = ()) -> datetime:
    """Return when the agency that caused this e-mail may send it: now, or as soon as its hourly limit allows.

    `in_flight` are the kinds of the agency's e-mails that are being sent, which count as sent. E-mails that people must
    get, such as notices about their account, have no hourly limit. A person's first password link within an hour is
    sent in any case, whatever others have asked for.
    """
    kinds = quota_group_of(mail)
    if kinds is None or (kinds is RESETS and not _had_one(mail, now - HOUR)):
        return now
    sent = Mail.objects.filter(agency=mail.agency_id, sent_at__gt=now - HOUR, kind__in=kinds).order_by("-sent_at")
    most = max(1, settings.AGENCY_MAIL_LIMIT // QUOTA_DIVISORS[kinds]) - sum(kind in kinds for kind in in_flight)
    if most < 1:
        return now + SHORTEST_WAIT
    oldest = list(sent.values_list("sent_at", flat=True)[most - 1 : most])
    return max(oldest[0] + HOUR, now + SHORTEST_WAIT) if oldest and oldest[0] else now


def postpone_quota_group(mail: Mail, room: datetime, now: datetime) -> None:
    """Put off the e-mails that count together with this one to the same time, a thousand at once.

    Password links are not put off together, as a person's first one is sent in any case.
    """
    kinds = quota_group_of(mail)
    if kinds is None or kinds is RESETS:
        return
    with transaction.atomic():
        due = Mail.objects.filter(agency=mail.agency_id, kind__in=kinds, next_attempt_at__lte=now)
        waiting = due.filter(sent_at=None, given_up_at=None).select_for_update(skip_locked=True, of=("self",))
        pks = list(waiting.values_list("pk", flat=True)[:PUT_BACK_AT_ONCE])
        Mail.objects.filter(pk__in=pks).update(next_attempt_at=room)


def _had_one(mail: Mail, since: datetime) -> bool:
    return Mail.objects.filter(recipient=mail.recipient, sent_at__gt=since, kind=mail.kind).exists()


# An agency's own server sends an e-mail if the server works and may carry the e-mail, else the installation's. The
# kind of e-mail and support's permission decide. A server that carries links to accounts can tell who already had an
# account, from what it is given and what it is not. Support's permission covers that, too.

# Kinds that an agency sends. Its console shows which of them failed. Its own server sends them only if support allows
# it, because each has a link that makes an account, or that gives an address to a person. One person has one account at
# all agencies, and people who run a server can read what it carries. The installation's server sends all other kinds,
# such as links to set a new password, and no agency sees them.
AGENCY_MAIL_KINDS: Final = INVITATIONS | {Mail.Kind.SIGN_UP_CONFIRMATION}


def sent_by_agency_server(now: datetime) -> Q:
    """Return the condition for e-mails that an agency's own server tries next: by one in use, and tests by any."""
    is_awake = Q(resting_until=None) | Q(resting_until__lte=now)
    own = MailSettings.objects.filter(agency=OuterRef("agency")).exclude(host="")
    used = own.filter(is_awake, carries_account_links=True, verified_at__isnull=False)
    return Q(Exists(used), kind__in=AGENCY_MAIL_KINDS) | Q(Exists(own), kind=Mail.Kind.TEST)


def mail_settings_for(mail: Mail) -> MailSettings | None:
    """Return the settings of the agency for which an e-mail is sent, if it has any."""
    return getattr(mail.agency, "mail_settings", None) if mail.agency else None


def agency_server_for(mail: Mail, now: datetime) -> MailSettings | None:
    """Return the agency's own server if it sends this e-mail, else None for the installation's server."""
    found = mail_settings_for(mail)
    if found is None or not found.has_server:
        return None
    if mail.kind == Mail.Kind.TEST:
        return found
    return found if mail.kind in AGENCY_MAIL_KINDS and found.is_used(now) else None


ATTEMPTS = 12
OVERDUE = timedelta(minutes=2)
# A single address may be mistyped; if several e-mails fail again and again, it is the server's fault.
FAILING_TRIES = FAILING_MAILS = 3
BYTES_OF_MAIL = tuple(f"agency__{name}" for name in AGENCY_PICTURE_BYTE_FIELDS)


def queue_mail(*, kind: Mail.Kind, user: User, context: Context, agency: Agency | None = None) -> Mail:
    """Queue an e-mail to a person; it is sent only if the change around it is committed."""
    return _queue(kind=kind, user=user, recipient=user.email, agency=agency, context=context)


def queue_invitation(*, kind: Mail.Kind, invitation: Invitation, context: Context) -> Mail:
    """Queue an e-mail with the link to an invitation, to the invitation's address."""
    return _queue(
        kind=kind, invitation=invitation, recipient=invitation.email, agency=invitation.agency, context=context
    )


def queue_to_address(*, kind: Mail.Kind, recipient: str, context: Context, agency: Agency | None = None) -> Mail:
    """Queue an e-mail to an address that may belong to nobody yet."""
    return _queue(kind=kind, recipient=recipient, agency=agency, context=context)


def queue_to_addresses(*, kind: Mail.Kind, contexts: Iterable[tuple[str, Context]], agency: Agency) -> None:
    """Queue an e-mail of one kind to each address with its own context, such as for everybody in a class."""
    rows = (
        Mail(kind=kind, recipient=recipient, agency=agency, context=context, created_at=Now(), next_attempt_at=Now())
        for recipient, context in contexts
    )
    Mail.objects.bulk_create(rows, batch_size=INSERTED_AT_ONCE)


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


def waiting_for_installation_server() -> "QuerySet[Mail]":
    """Return the waiting e-mails of the installation's server, without those of agencies' own servers.

    An agency's server that is slow or away is no fault of ours.
    """
    return Mail.objects.filter(sent_at=None, given_up_at=None).filter(~sent_by_agency_server(database_now()))


def is_mail_healthy() -> bool:
    """Return whether e-mails are sent: none is overdue, and fewer than `FAILING_MAILS` fail again and again."""
    waiting = waiting_for_installation_server()
    if waiting.filter(next_attempt_at__lt=Now() - OVERDUE).exists():
        return False
    failing = waiting.filter(attempts__gte=FAILING_TRIES, by_own_server=False)
    return failing[:FAILING_MAILS].count() < FAILING_MAILS


LEASE: Final = timedelta(minutes=2)
NOTICES: Final = frozenset({Mail.Kind.TWO_FACTOR_CHANGED, Mail.Kind.RECOVERY_CODE_USED, Mail.Kind.NEW_SIGN_IN})
# People who cannot sign in, or must know at once, come first. People who look at a page that says "see your e-mails"
# come next. E-mails that nobody expects yet come last, such as the invitations of an import.
IN_ORDER: Final = ({Mail.Kind.PASSWORD_RESET} | NOTICES, SIGN_UPS | BOOKING_CODES | {Mail.Kind.TEST})
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
class DueGroup:
    """The due e-mails of one kind and one agency (0 for none), due since `since`.

    With `by_own` the agency's own server takes them.
    """

    agency: int
    kind: str
    since: datetime
    by_own: bool


@dataclass(frozen=True, slots=True)
class InFlight:
    """What is being sent: no recipient gets two e-mails at once, and each server takes one after another.

    `agencies` are those whose own servers are busy; None means that no other own server may begin.
    """

    installation: bool = False
    agencies: Collection[int] | None = ()
    recipients: Collection[str] = ()

    def leaves(self, due: DueGroup) -> bool:
        """Return whether an e-mail of these may begin meanwhile."""
        if due.by_own:
            return self.agencies is not None and due.agency not in self.agencies
        return not self.installation


NOTHING: Final = InFlight()


class RoundRobin:
    """When each agency had its last turn at the installation's server, and at its own."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, bool], int] = {}
        self._count = 0

    def end_turn(self, due: DueGroup) -> None:
        self._count += 1
        self._last[due.agency, due.by_own] = self._count

    def order(self, due: DueGroup) -> tuple[int, int, datetime]:
        """Return a sort key: urgency, then whose last turn is longest ago."""
        rank = next((rank for rank, kinds in enumerate(IN_ORDER) if due.kind in kinds), len(IN_ORDER))
        return rank, self._last.get((due.agency, due.by_own), 0), due.since


def lease_next_mail(*, now: datetime, busy: InFlight = NOTHING, turns: RoundRobin | None = None) -> Mail | None:
    """Lease the next e-mail for two minutes, in which no other process takes it.

    An e-mail whose last attempt died too is leased once more, so that the sender gives it up.
    """
    turns = turns or RoundRobin()
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


def _due(now: datetime) -> list[DueGroup]:
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"now": now})
        return [
            DueGroup(
                agency, kind, since, has_server if kind == Mail.Kind.TEST else is_used and kind in AGENCY_MAIL_KINDS
            )
            for agency, kind, since, has_server, is_used in cursor.fetchall()
        ]


def _first_of(due: DueGroup, now: datetime, busy: InFlight) -> Mail | None:
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


# The longest that any of these links is valid.
SENT_WITHIN: Final = timedelta(days=7)
MOST: Final = 10_000


def send_links_again(*, agency_id: int, host: str) -> int:
    """Queue again the e-mails with links on a host that is no longer served, if their links could still be followed.

    The new links are on the agency's next host, or the installation's. Returns how many; the caller is inside a
    transaction, in which the host is already no longer primary.
    """
    sent = Mail.objects.filter(
        agency=agency_id, link_host=host, kind__in=AGENCY_MAIL_KINDS, sent_at__gt=Now() - SENT_WITHIN
    )
    waits = Q(invitation__status=Invitation.Status.OPEN, invitation__expires_at__gt=Now())
    waits |= Q(kind=Mail.Kind.OWNER_INVITATION, user__password__startswith=UNUSABLE_PASSWORD_PREFIX)
    if Domain.objects.filter(agency=agency_id, is_primary=True).exists():  # sign-up needs a host of the agency's own
        waits |= Q(kind=Mail.Kind.SIGN_UP_CONFIRMATION)
    latest = sent.filter(waits).order_by("-sent_at")[:MOST]
    return len(Mail.objects.bulk_create([copy_of(mail) for mail in _each_once(latest)], batch_size=500))


def _each_once(mails: Iterable[Mail]) -> Iterator[Mail]:
    seen = set()
    for mail in mails:
        asks_for = mail.kind, mail.recipient, mail.invitation_id, str(mail.context)
        if asks_for not in seen:
            seen.add(asks_for)
            yield mail
