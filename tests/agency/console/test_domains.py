"""Configuration → Domains, as an agency's staff use it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import Domain
from agency.services import dns
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import DomainFactory
from tests.fakes.name_server import NameServer, name_server
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db

PAGE = "/console/configuration/domains"


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    """It may take as long as a busy machine needs for an answer."""
    for limit in ("DEADLINE_SECONDS", "TIMEOUT_SECONDS"):
        monkeypatch.setattr(dns, limit, PATIENCE_SECONDS)
    with name_server() as server:
        settings.DNS_SERVERS = [("127.0.0.1", server.port)]
        settings.DOMAIN_TARGET = "in.service.localhost"
        settings.DOMAIN_ADDRESSES = ["192.0.2.7", "2001:db8::7"]
        yield server


def rested() -> None:
    Domain.objects.update(checked_at=now() - timedelta(minutes=1))


def test_from_nothing_to_a_primary_domain(a: Tenant, admin: Client, server: NameServer) -> None:
    assert "links lead to http://testserver" in text(admin.get(PAGE))
    added = admin.post(f"{PAGE}/new", {"host": "https://App.Example.NET/"}, follow=True)
    assert "app.example.net was added." in flashes(added)[0]
    domain = Domain.objects.get(agency=a.agency)
    here = f"{PAGE}/{domain.uuid}"
    shown = text(admin.get(here))
    for part in (
        "TXT",
        "_svc-verify.app.example.net",
        domain.token,
        "CNAME",
        "in.service.localhost",
        "192.0.2.7",
        "2001:db8::7",
    ):
        assert part in shown, part
    assert "Not checked yet" in shown
    assert "Next check In a moment" in shown

    checked = admin.post(f"{here}/check", follow=True)
    assert "We have not found the TXT record yet." in flashes(checked)[0]
    assert "a moment ago" in flashes(admin.post(f"{here}/check", follow=True))[0]
    server.set(domain.verification_name, "TXT", '"an-old-one"')
    rested()
    assert "an-old-one" in text(admin.post(f"{here}/check", follow=True))
    server.set(domain.verification_name, "TXT", f'"{domain.token}"')
    server.set(domain.host, "A", "192.0.2.7")
    rested()
    assert flashes(admin.post(f"{here}/check", follow=True)) == ["The domain is yours, and it points here."]
    listed = text(admin.get(PAGE))
    assert "app.example.net Primary Verified" in listed

    removed = admin.post(f"{here}/remove", follow=True)
    assert flashes(removed) == ["app.example.net was removed."]
    assert admin.get(here).status_code == 404


def test_another_domain_is_made_primary_by_its_button(a: Tenant, admin: Client) -> None:
    first = DomainFactory.create(agency=a.agency, host="first.localhost")
    second = DomainFactory.create(agency=a.agency, host="second.localhost")
    assert "Make primary" not in text(admin.get(f"{PAGE}/{second.uuid}"))
    made = admin.post(f"{PAGE}/{first.uuid}/primary", follow=True)
    assert flashes(made) == ["New links lead to first.localhost."]
    assert "This is your primary domain" in text(admin.get(f"{PAGE}/{first.uuid}/remove"))
    assert "Make primary" in text(admin.get(f"{PAGE}/{second.uuid}"))


def test_a_refusal_stands_beside_the_field(admin: Client) -> None:
    answer = admin.post(f"{PAGE}/new", {"host": "10.0.0.1"})
    assert answer.status_code == 422
    assert "no IP address" in text(answer)


def test_a_viewer_sees_all_of_it_and_no_button(a: Tenant, viewer: Client) -> None:
    domain = DomainFactory.create(agency=a.agency)
    shown = text(viewer.get(f"{PAGE}/{domain.uuid}"))
    assert domain.token in shown
    assert not {"Check now", "Remove", "Make primary"} & set(shown.split("  "))
    assert "Check now" not in shown
    assert "Add domain" not in text(viewer.get(PAGE))


def test_the_first_page_says_whose_record_is_gone(a: Tenant, b: Tenant, admin: Client) -> None:
    domain = DomainFactory.create(agency=a.agency)
    DomainFactory.create(agency=b.agency)
    assert "TXT record" not in text(admin.get("/console/"))
    Domain.objects.update(failing_since=now())
    shown = text(admin.get("/console/"))
    assert shown.count("TXT record") == 1
    assert f"The TXT record of {domain.host} is gone" in shown
    assert "Set it again before" in text(admin.get(f"{PAGE}/{domain.uuid}"))


def test_the_list_takes_as_many_queries_for_twenty_as_for_one(
    a: Tenant, admin: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        DomainFactory.create(agency=a.agency, host=f"d{number}.localhost", is_verified=False)
    with django_assert_max_num_queries(9):
        assert text(admin.get(PAGE)).count("Not verified") == 20


def test_the_primary_domain_comes_first_unless_the_heads_are_sorted_by(a: Tenant, viewer: Client) -> None:
    primary = DomainFactory.create(agency=a.agency, host="m.localhost")
    for host in ("a.localhost", "z.localhost"):
        DomainFactory.create(agency=a.agency, host=host, is_verified=False)
    for hours_ago, host in enumerate(("m.localhost", "z.localhost", "a.localhost")):
        Domain.objects.filter(host=host).update(checked_at=now() - timedelta(hours=hours_ago))
    assert Domain.objects.get(is_primary=True) == primary

    def shown(query: str) -> list[Domain]:
        return [domain for domain, _ in viewer.get(f"{PAGE}{query}").context["rows"]]

    assert [domain.host[0] for domain in shown("")] == ["m", "a", "z"]
    assert [domain.host[0] for domain in shown("?sort=-domain")] == ["z", "m", "a"]
    assert [domain.host[0] for domain in shown("?sort=-checked")] == ["m", "z", "a"]
    assert [domain.host[0] for domain in shown("?sort=state")] == ["m", "a", "z"]
