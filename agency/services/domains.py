"""An agency's domains: the names that are allowed, changes by its staff, and checks in the DNS."""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from agency.actors import SYSTEM, Actor
from agency.models import Agency, Domain, Mail, Member
from agency.models.branding import GRACE, HOST_PATTERN, LONGEST_HOST, VERIFICATION_LABEL
from agency.services.activity import record_activity
from agency.services.agencies import lock_agency
from agency.services.dns import LONGEST_TEXT, MOST_KEPT, HostRecords, look_up_hosts
from agency.services.hosts import invalidate_hosts
from agency.services.mail.queue import queue_mail, send_links_again
from agency.services.notifications.agency_kinds import notify_of_missing_record
from config.db import TimeOrExpression, database_now
from config.errors import Conflict, InvalidInput, NotFound
from config.http.guard import HostInvalid, ascii_host, is_internal_name
from config.tries.counting import Try, begin_tries, forget_tries, next_rows, run_begun

_HOST = re.compile(HOST_PATTERN, re.ASCII)


class HostRefused(InvalidInput):
    """The message says what is wrong with the name."""

    field = "host"
    message = "Enter only the domain, for example app.example.com: no https://, no port and no IP address."


class HostHasOneLabel(HostRefused):
    message = "Enter a full domain, for example app.example.com."


class HostIsInternal(HostRefused):
    message = "This domain does not exist on the internet."


class HostIsInstallations(HostRefused):
    message = "This domain belongs to the service itself."


def checked_host(text: str) -> str:
    """Return a domain in its canonical spelling: ASCII (IDNA), lower case, no final dot. Raises `HostRefused`."""
    try:
        host = ascii_host(text.strip())
    except HostInvalid:
        raise HostRefused from None
    if "." not in host:
        raise HostHasOneLabel if host.replace("-", "").isalnum() else HostRefused
    if len(f"{VERIFICATION_LABEL}.{host}") > LONGEST_HOST or not _HOST.fullmatch(host):
        raise HostRefused
    if settings.PRODUCTION and is_internal_name(host):
        raise HostIsInternal
    if _is_installations(host):
        raise HostIsInstallations
    return host


def _is_installations(host: str) -> bool:
    """Whether the settings name this host or a name above it; names below the settings' local hosts are free."""
    above = {name.removeprefix(".") for name in settings.HOSTS - settings.LOCAL_HOSTS}
    return host in settings.HOSTS or any(host == name or host.endswith(f".{name}") for name in above)


MOST_DOMAINS = 20
TOKEN_BYTES = 24


class DomainNotFound(NotFound):
    message = "Domain not found."


class DomainListed(HostRefused):
    message = "This domain is in your list already."


class TooManyDomains(Conflict):
    message = f"An agency has at most {MOST_DOMAINS} domains. Remove one first."


class DomainNotVerified(Conflict):
    message = "This domain is not verified yet."


@transaction.atomic
def add_domain(*, agency: Agency, host: str, now: datetime, by: Actor) -> Domain:
    """Claim a host for an agency, even if others claim it; it is served once the DNS shows this claim's token.

    Raises `HostRefused`, whose message says what is wrong, `DomainListed` and `TooManyDomains`.
    """
    host = checked_host(host)
    lock_agency(agency.pk)
    own = Domain.objects.of(agency)
    if own.filter(host=host).exists():
        raise DomainListed
    if own.count() >= MOST_DOMAINS:
        raise TooManyDomains
    try:
        with transaction.atomic():
            domain = Domain.objects.create(
                agency=agency,
                host=host,
                token=secrets.token_urlsafe(TOKEN_BYTES),
                created_at=now,
                pending_since=now,
                next_check_at=now,
            )
    except IntegrityError as error:
        raise DomainListed from error
    record_domain_activity(domain, "domain.added", by)
    return domain


@transaction.atomic
def make_primary(*, domain: Domain, by: Actor) -> Domain:
    """Make every new link of the agency's customers lead to this host. Raises `DomainNotVerified`."""
    lock_agency(domain.agency_id)
    domain = lock_domain(domain)
    if not domain.is_verified:
        raise DomainNotVerified
    if domain.is_primary:
        return domain
    Domain.objects.filter(agency_id=domain.agency_id, is_primary=True).update(is_primary=False)
    domain.is_primary = True
    domain.save(update_fields=["is_primary"])
    record_domain_activity(domain, "domain.made_primary", by)
    invalidate_hosts()
    return domain


@transaction.atomic
def remove_domain(*, domain: Domain, by: Actor) -> None:
    """Stop serving a host at once; if it was primary, another verified host of the agency becomes primary.

    Unanswered invitations with links to the host are sent again.
    """
    lock_agency(domain.agency_id)
    domain = lock_domain(domain)
    domain.delete()
    record_domain_activity(domain, "domain.removed", by)
    if domain.is_primary:
        choose_next_primary(domain.agency_id, by)
    send_links_again(agency_id=domain.agency_id, host=domain.host)
    invalidate_hosts()


def lock_domain(domain: Domain) -> Domain:
    """Read a domain again and lock it. Raises `DomainNotFound` if it has been removed meanwhile."""
    found = Domain.objects.select_for_update(no_key=True).filter(pk=domain.pk).first()
    if found is None:
        raise DomainNotFound
    return found


def choose_next_primary(agency_id: int, by: Actor) -> None:
    """Make the oldest verified host primary, if possible one that leads here; the agency has no primary host."""
    verified = Domain.objects.verified().filter(agency_id=agency_id)
    oldest_first = verified.order_by("verified_at", "id")
    following = max(oldest_first, key=lambda one: one.points_here is not False, default=None)
    if following:
        Domain.objects.filter(pk=following.pk).update(is_primary=True)
        record_domain_activity(following, "domain.made_primary", by)


def record_domain_activity(domain: Domain, action: str, by: Actor) -> None:
    record_activity(by=by, action=action, agency_id=domain.agency_id, target=("domain", domain.uuid, domain.host))


BATCH: Final = 20
NO_ANSWER: Final = HostRecords(texts=None)
KIND: Final = "domain check"
# How long a domain is not checked by itself after its checks killed their process.
AFTER_GIVING_UP: Final = timedelta(days=2)
# Longer than the look-ups of a batch take, so that no other process takes a domain meanwhile.
LEASE: Final = timedelta(minutes=1)
ASKED_EVERY: Final = timedelta(seconds=10)
# How often a domain that is not verified is checked, by the time since its claim; later only by the button.
PENDING_EVERY: Final = (
    (timedelta(minutes=15), timedelta(seconds=30)),
    (timedelta(hours=2), timedelta(minutes=5)),
    (timedelta(days=2), timedelta(minutes=30)),
    (timedelta(days=30), timedelta(hours=12)),
)
VERIFIED_EVERY: Final = timedelta(days=1)
DOUBTFUL_EVERY: Final = timedelta(hours=1)


class CheckedJustNow(Conflict):
    message = "This domain was checked a moment ago. Try again in a few seconds."


def check_domain(*, domain: Domain, now: datetime, by: Actor) -> Domain:
    """Check a domain in the DNS now, outside any transaction. Raises `CheckedJustNow` and `DomainNotFound`."""
    free = Q(checked_at=None) | Q(checked_at__lte=now - ASKED_EVERY)
    if not Domain.objects.filter(free, pk=domain.pk).update(checked_at=now, next_check_at=now + LEASE):
        raise CheckedJustNow
    [records] = _look_up([domain])
    checked = record_check(domain=domain, records=records, now=now, by=by)
    if checked is None:
        raise DomainNotFound
    forget_tries(kind=KIND, keys=[domain.pk])
    return checked


def check_due_domains() -> bool:
    """Check a batch of due domains in the DNS at once; return whether there may be more."""
    now = database_now()
    claimed = _claim_due(now)
    domains = [domain for domain, begun in claimed if not begun.comes_too_often]
    records = dict(zip((one.pk for one in domains), _look_up(domains), strict=True))
    for domain, begun in claimed:
        check = partial(record_check, domain=domain, records=records.get(domain.pk, NO_ANSWER), now=now, by=SYSTEM)
        run_begun(begun, check, give_up=partial(_put_off, domain, now), counts_faults=True)
    return len(claimed) == BATCH


def _put_off(domain: Domain, now: datetime) -> None:
    """Put off a domain whose checks killed their process, and leave it as it is. The button checks it at any time."""
    Domain.objects.filter(pk=domain.pk).update(next_check_at=now + AFTER_GIVING_UP)


def due_domains(now: TimeOrExpression) -> "QuerySet[Domain]":
    """Return the due domains, the longest due first."""
    return Domain.objects.due(now).order_by("next_check_at")


def _look_up(domains: Sequence[Domain]) -> list[HostRecords]:
    """Return each domain's DNS records; in development, names below `localhost` are verified for everybody."""
    asked = [one for one in domains if not (settings.LOCALHOST_IS_PROVEN and one.host.endswith(".localhost"))]
    found = look_up_hosts((one.host, one.verification_name) for one in asked) if asked else []
    records = dict(zip((one.pk for one in asked), found, strict=True))
    return [records.get(one.pk) or HostRecords(texts=(one.token,), points_here=True) for one in domains]


@transaction.atomic
def _claim_due(now: datetime) -> Sequence[tuple[Domain, Try]]:
    domains = next_rows(due_domains(now).select_for_update(skip_locked=True, no_key=True), kind=KIND, most=BATCH)
    Domain.objects.filter(pk__in=[one.pk for one in domains]).update(next_check_at=now + LEASE, checked_at=now)
    begun = begin_tries(kind=KIND, keys=[one.pk for one in domains])
    return [(one, begun[str(one.pk)]) for one in domains]


@transaction.atomic
def record_check(*, domain: Domain, records: HostRecords, now: datetime, by: Actor) -> Domain | None:
    """Apply what the DNS says of a domain; return None if the domain has been removed meanwhile.

    The agency whose token is in the DNS gets the host. If the present holder's token is there as well, the holder keeps
    the host; if it is gone, the host is taken over at once.
    """
    claims = _lock_claims(domain)
    own = next((one for one in claims if one.pk == domain.pk), None)
    if own is None:
        return None
    holder = next((one for one in claims if one.is_verified and one.pk != own.pk), None)
    texts = records.texts or ()
    is_shown = own.token in texts
    own.finding = _finding(records, is_shown=is_shown)
    if is_shown and holder and holder.token in texts:
        own.finding = Domain.Finding.TAKEN
    elif is_shown:
        if holder:
            _take_over(holder, now)
        _verify(own, records, now, by)
    elif own.is_verified and records.texts is not None:
        _miss(own, now, by)
    own_first = sorted(texts, key=lambda text: text != own.token)
    own.found_texts = [text[:LONGEST_TEXT] for text in own_first[:MOST_KEPT]]
    own.found_addresses, own.points_here = list(records.addresses or ())[:MOST_KEPT], records.points_here
    own.checked_at, own.next_check_at = now, _next_check(own, now)
    own.save()
    return own


def _lock_claims(domain: Domain) -> list[Domain]:
    """Lock all claims to a host and their agencies, as the agencies' primary domains may change."""
    claims = Domain.objects.filter(host=domain.host)
    owners = Agency.objects.filter(pk__in=claims.values("agency_id"))
    list(owners.select_for_update(no_key=True).order_by("pk"))
    return list(claims.select_for_update(no_key=True).order_by("pk"))


def _finding(records: HostRecords, *, is_shown: bool) -> Domain.Finding:
    if records.texts is None:
        return Domain.Finding.NO_ANSWER
    if not records.texts:
        return Domain.Finding.NO_RECORD
    return Domain.Finding.FOUND if is_shown else Domain.Finding.OTHER_VALUE


def _verify(domain: Domain, records: HostRecords, now: datetime, by: Actor) -> None:
    """Serve a host from now on.

    It becomes primary if its agency has no primary domain and it does not lead elsewhere.
    """
    domain.failing_since = None
    if domain.is_verified:
        return
    domain.state, domain.verified_at, domain.pending_since = Domain.State.VERIFIED, now, None
    has_primary = Domain.objects.filter(agency_id=domain.agency_id, is_primary=True).exists()
    domain.is_primary = not has_primary and records.points_here is not False
    record_domain_activity(domain, "domain.verified", by)
    invalidate_hosts()


def _miss(domain: Domain, now: datetime, by: Actor) -> None:
    """Record that a verified domain's record is gone; after the grace period its verification ends."""
    if domain.failing_since is None:
        domain.failing_since = now
        record_domain_activity(domain, "domain.record_missing", by)
        _tell_owners(domain, now, day=f"{now + GRACE:%Y-%m-%d}")
    elif now >= domain.failing_since + GRACE:
        _end_verification(domain, now, by)
        _tell_owners(domain, now)


def _take_over(holder: Domain, now: datetime) -> None:
    """End the previous holder's verification; neither its log nor its owners' e-mail says who has the host now."""
    _end_verification(holder, now, SYSTEM)
    _tell_owners(holder, now, is_taken=True)


def _tell_owners(domain: Domain, now: datetime, *, day: str = "", is_taken: bool = False) -> None:
    """Notify the agency's owners that a domain's record is gone, and until when the host is served all the same.

    The e-mail links to the installation's own host, as the agency's may be the one in danger.
    """
    context = {
        "host": domain.host,
        "record": domain.verification_name,
        "day": day,
        "has_ended": not day,
        "is_taken": is_taken,
        "domain": str(domain.uuid),
    }
    notify_of_missing_record(domain, now=now)
    owners = Member.objects.filter(agency=domain.agency_id, role=Member.Role.OWNER).select_related("user", "agency")
    for owner in owners.order_by("id"):
        queue_mail(kind=Mail.Kind.DOMAIN_RECORD_MISSING, user=owner.user, context=context, agency=owner.agency)


def _end_verification(domain: Domain, now: datetime, by: Actor) -> None:
    """Stop serving a host; it stays in its agency's list."""
    was_primary = domain.is_primary
    domain.state, domain.verified_at, domain.failing_since = Domain.State.PENDING, None, None
    domain.is_primary, domain.pending_since, domain.next_check_at = False, now, now + LEASE
    domain.save()
    record_domain_activity(domain, "domain.lost", by)
    if was_primary:
        choose_next_primary(domain.agency_id, by)
    send_links_again(agency_id=domain.agency_id, host=domain.host)
    invalidate_hosts()


def _next_check(domain: Domain, now: datetime) -> datetime | None:
    if domain.pending_since is None:
        is_doubtful = domain.finding != Domain.Finding.FOUND
        return now + (DOUBTFUL_EVERY if is_doubtful else VERIFIED_EVERY)
    age = now - domain.pending_since
    return next((now + every for until, every in PENDING_EVERY if age < until), None)
