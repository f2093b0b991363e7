"""Which names an agency may add as its domains, how many, and what the database holds of them."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Domain
from agency.services.domains import (
    MOST_DOMAINS,
    DomainListed,
    DomainNotVerified,
    HostRefused,
    TooManyDomains,
    add_domain,
    make_primary,
)
from tests import furnished
from tests.agency.domains.dns_records import HOST
from tests.factories import DomainFactory
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


REFUSED = (
    "",
    "com",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "0x7f.1",
    "1.2.3",
    "app.example.com:8000",
    "https://app.example.com",
    "app.example.com/x",
    "a@app.example.com",
    "app..example.com",
    "-app.example.com",
    "app_1.example.com",
    "*.example.com",
    "app.example.com,x",
    "app example.com",
    "testserver",
    f"{'a' * 64}.example.com",
    ".".join(["a" * 60] * 4),
    "\0.example.com",
)


def taken_of(a: Tenant, hosts: Iterable[str]) -> list[str]:
    """Which of these hosts an agency may add."""
    taken = []
    for host in hosts:
        with suppress(HostRefused):
            add_domain(agency=a.agency, host=host, now=now(), by=SYSTEM)
            taken.append(host)
    return taken


def test_what_is_no_domain_of_an_agency_s_is_refused(a: Tenant) -> None:
    assert taken_of(a, REFUSED) == []


def test_the_installation_s_own_hosts_and_those_below_are_refused(a: Tenant, settings: Any) -> None:
    settings.HOSTS = {"app.service.example.com", ".localhost.net", *settings.LOCAL_HOSTS}
    assert taken_of(a, ("app.service.example.com", "x.app.service.example.com", "service.localhost.net")) == []


def test_production_takes_no_name_that_means_nothing_outside(a: Tenant, settings: Any) -> None:
    settings.PRODUCTION = True
    assert taken_of(a, ("app.shop.local", "db.internal", "x.localhost")) == []


SPELLINGS = {
    "APP.Example.COM": "app.example.com",
    "app.example.com.": "app.example.com",
    "  app.example.com ": "app.example.com",
    "bücher.example.com": "xn--bcher-kva.example.com",
    "\uff41pp.example.com": "app.example.com",
}


def test_a_host_has_one_spelling(a: Tenant) -> None:
    for written, kept in SPELLINGS.items():
        with transaction.atomic():
            assert add_domain(agency=a.agency, host=written, now=now(), by=SYSTEM).host == kept
            with pytest.raises(DomainListed):
                add_domain(agency=a.agency, host=kept, now=now(), by=SYSTEM)
            transaction.set_rollback(True)


def test_an_agency_has_at_most_twenty(a: Tenant) -> None:
    for number in range(MOST_DOMAINS):
        add_domain(agency=a.agency, host=f"d{number}.example.com", now=now(), by=SYSTEM)
    with pytest.raises(TooManyDomains):
        add_domain(agency=a.agency, host="more.example.com", now=now(), by=SYSTEM)


def test_only_a_verified_domain_is_made_primary(domain: Domain) -> None:
    with pytest.raises(DomainNotVerified):
        make_primary(domain=domain, by=SYSTEM)


IMPOSSIBLE: tuple[dict[str, Any], ...] = (
    {"host": "App.example.com"},
    {"host": "10.0.0.1"},
    {"host": "com"},
    {"is_primary": True},
    {"state": "verified"},
    {"verified_at": "2026-01-01T00:00Z"},
    {"failing_since": "2026-01-01T00:00Z"},
)


def test_the_database_holds_what_must_hold(domain: Domain) -> None:
    held: list[dict[str, Any]] = []
    for values in IMPOSSIBLE:
        try:
            with transaction.atomic():
                Domain.objects.filter(pk=domain.pk).update(**values)
        except IntegrityError:
            held.append(values)
    assert held == list(IMPOSSIBLE)


def test_the_database_gives_a_host_to_one_agency_and_an_agency_one_primary(domain: Domain, b: Tenant) -> None:
    verified = {"state": "verified", "verified_at": now(), "pending_since": None}
    Domain.objects.filter(pk=domain.pk).update(**verified)
    for other in (
        add_domain(agency=b.agency, host=HOST, now=now(), by=SYSTEM),
        DomainFactory.create(agency=domain.agency, host="two.localhost"),
    ):
        changed = {**verified, "is_primary": True} if other.agency_id == domain.agency_id else verified
        with pytest.raises(IntegrityError), transaction.atomic():
            Domain.objects.filter(pk__in=[other.pk, domain.pk]).update(**changed)


def test_who_else_claims_a_host_is_found_in_an_index(domain: Domain) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "domain_by_host" in Domain.objects.filter(host=HOST).explain()
