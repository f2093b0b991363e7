"""Connecting on an agency's own domain: the provider knows one address, the browser's cookie is on another."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from agency.actors import SYSTEM
from agency.services.domains import remove_domain
from channelconnect.services.sessions.ending import connect_url
from tests import furnished
from tests.channelconnect.agencies import a_session
from tests.channelconnect.customer import Customer, link_of, outcome, path_of, state_in
from tests.factories import DomainFactory
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db

OWN, OTHERS = "app.ada.localhost", "app.bob.localhost"


@pytest.fixture
def domain(connecting: Tenant, b: Tenant) -> Any:
    DomainFactory.create(agency=b.agency, host=OTHERS)
    return DomainFactory.create(agency=connecting.agency, host=OWN)


@pytest.fixture
def on_own_host(customer: Customer) -> Customer:
    """The customer's browser on the agency's host, whose cookies it sends nowhere else."""
    customer.browser.defaults["HTTP_HOST"] = OWN
    return customer


def on_installation(address: str) -> Any:
    """What the installation's own host answers, to a browser that has no cookie there."""
    return Client().get(path_of(address))


def test_a_link_leads_to_the_agency_s_domain(connecting: Tenant, domain: Any) -> None:
    session = a_session(connecting)
    assert connect_url(session, now=session.created_at) == f"http://{OWN}/connect/{session.link}"


def test_the_whole_way_is_gone_on_the_agency_s_domain(connecting: Tenant, domain: Any, on_own_host: Customer) -> None:
    session = a_session(connecting)
    on_own_host.open(link_of(session))
    dialog = on_own_host.press_continue()
    assert parse_qs(urlsplit(dialog).query)["redirect_uri"] == ["http://testserver/connect/callback"]
    back = on_own_host.consent(dialog)
    [code] = parse_qs(urlsplit(back).query)["code"]

    passed_on = on_installation(back)

    assert (passed_on.status_code, passed_on["Referrer-Policy"], passed_on["Cache-Control"]) == (
        303,
        "no-referrer",
        "no-store",
    )
    address = passed_on["Location"]
    assert address.startswith(f"http://{OWN}/connect/callback?response=")
    assert code not in address
    assert state_in(dialog) not in address
    assert outcome(session)[0] == "authorizing"
    on_own_host.open(address)
    assert outcome(session)[0] == "selecting"
    on_own_host.select()
    assert outcome(session) == ("connected", None)


def test_what_was_passed_on_counts_once_and_only_in_the_browser_that_began(
    connecting: Tenant, domain: Any, on_own_host: Customer
) -> None:
    session = a_session(connecting)
    on_own_host.open(link_of(session))
    address = on_installation(on_own_host.consent(on_own_host.press_continue()))["Location"]

    elsewhere = Client().get(path_of(address), headers={"host": OWN})
    assert elsewhere.status_code == 403
    assert outcome(session)[0] == "authorizing"
    for host, status in ((OTHERS, 404), ("testserver", 404)):
        assert Client().get(path_of(address), headers={"host": host}).status_code == status
    on_own_host.open(address)
    exchanged = sum(call["call"] == "exchange" for call in on_own_host.sandbox.ledger()["calls"])
    on_own_host.open(address)
    assert sum(call["call"] == "exchange" for call in on_own_host.sandbox.ledger()["calls"]) == exchanged == 1


def test_only_what_the_installation_passed_on_is_taken_there(
    connecting: Tenant, domain: Any, on_own_host: Customer, settings: Any
) -> None:
    session = a_session(connecting)
    on_own_host.open(link_of(session))
    back = on_own_host.consent(on_own_host.press_continue())
    assert on_own_host.browser.get(path_of(back)).status_code == 404
    for odd in ("", "x", "gAAAAA", "%00", "ü"):
        assert on_own_host.browser.get(f"/connect/callback?response={odd}").status_code == 404
    assert outcome(session)[0] == "authorizing"


def test_looking_ahead_takes_nothing(connecting: Tenant, domain: Any, on_own_host: Customer) -> None:
    session = a_session(connecting)
    on_own_host.open(link_of(session))
    back = on_own_host.consent(on_own_host.press_continue())
    assert Client().head(path_of(back)).status_code == 200
    address = on_installation(back)["Location"]
    assert on_own_host.browser.head(path_of(address)).status_code == 200
    assert outcome(session)[0] == "authorizing"


def test_declining_ends_it_on_the_agency_s_domain(connecting: Tenant, domain: Any, on_own_host: Customer) -> None:
    session = a_session(connecting)
    on_own_host.open(link_of(session))
    back = on_own_host.consent(on_own_host.press_continue(), decision="decline")
    on_own_host.open(on_installation(back)["Location"])
    assert outcome(session)[0] == "cancelled"


def test_a_domain_removed_meanwhile_gets_nothing(connecting: Tenant, domain: Any, on_own_host: Customer) -> None:
    session = a_session(connecting)
    on_own_host.open(link_of(session))
    back = on_own_host.consent(on_own_host.press_continue())
    remove_domain(domain=domain, by=SYSTEM)
    assert on_installation(back).status_code == 403
    assert outcome(session)[0] == "authorizing"


def test_a_link_is_not_known_on_another_agency_s_domain(connecting: Tenant, domain: Any) -> None:
    path = path_of(link_of(a_session(connecting)))
    statuses = {host: Client().get(path, headers={"host": host}).status_code for host in (OWN, "testserver", OTHERS)}
    assert statuses == {OWN: 200, "testserver": 200, OTHERS: 404}
