"""Changes of an agency's domains by its staff: claim, make primary, remove."""

import secrets
from datetime import datetime

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.models import Agency, Domain
from agency.services.activity import record_activity
from agency.services.agencies import lock_agency
from agency.services.domains.hosts import drop_hosts
from agency.services.domains.names import HostRefused, checked_host
from agency.services.mail.resending import send_links_again
from config.errors import Conflict, NotFound

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
    domain = locked_domain(domain)
    if not domain.is_verified:
        raise DomainNotVerified
    if domain.is_primary:
        return domain
    Domain.objects.filter(agency_id=domain.agency_id, is_primary=True).update(is_primary=False)
    domain.is_primary = True
    domain.save(update_fields=["is_primary"])
    record_domain_activity(domain, "domain.made_primary", by)
    drop_hosts()
    return domain


@transaction.atomic
def remove_domain(*, domain: Domain, by: Actor) -> None:
    """Stop serving a host at once; if it was primary, another verified host of the agency becomes primary.

    Unanswered invitations with links to the host are sent again.
    """
    lock_agency(domain.agency_id)
    domain = locked_domain(domain)
    domain.delete()
    record_domain_activity(domain, "domain.removed", by)
    if domain.is_primary:
        choose_next_primary(domain.agency_id, by)
    send_links_again(agency_id=domain.agency_id, host=domain.host)
    drop_hosts()


def locked_domain(domain: Domain) -> Domain:
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
