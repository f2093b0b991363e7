"""A session is good on one agency's hosts, or on the installation's own, whoever carries its cookie where."""

import re
from typing import Any

import pytest
import requests
from pytest_django.live_server_helper import LiveServer

from agency.models import User, UserSession
from tests.agency.console.browsers import PASSWORD, a_person
from tests.factories import DomainFactory
from tests.flows.white_label.agencies import HostedAgency, belongs_to_both
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db(transaction=True)
OWN = "localhost"


class Visitor:
    """Somebody who speaks HTTP and chooses which cookies go to which host."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookies: dict[str, str] = {}
        self.set_cookies: list[str] = []

    def call(self, method: str, host: str, path: str, **data: str) -> requests.Response:
        headers = {"Host": host, "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        answer = requests.request(
            method, f"{self.url}{path}", headers=headers, data=data or None, allow_redirects=False, timeout=60
        )
        self.set_cookies += answer.raw.headers.getlist("Set-Cookie")
        return answer

    def get(self, host: str, path: str) -> requests.Response:
        return self.call("GET", host, path)

    def post(self, host: str, path: str, **data: str) -> requests.Response:
        """Send a form with the token of the sign-in page, which sets its cookie."""
        page = self.get(host, "/account/sign-in") if "csrf" not in self.cookies else None
        if page is not None:
            self.cookies |= page.cookies.get_dict()
        return self.call("POST", host, path, csrfmiddlewaretoken=self.cookies["csrf"], **data)

    def sign_in(self, host: str, person: User) -> str:
        """Sign in and give the session's cookie."""
        answer = self.post(host, "/account/sign-in", email=person.email, password=PASSWORD)
        assert answer.status_code == 302
        self.cookies |= answer.cookies.get_dict()
        return self.cookies["session"]

    def is_signed_in(self, host: str) -> bool:
        return self.get(host, "/account/profile").status_code == 200


@pytest.fixture
def hosts(transactional_db: None) -> tuple[HostedAgency, HostedAgency]:
    return HostedAgency(Tenant(), "north", "0d9488"), HostedAgency(Tenant(), "south-sea", "ffcc00")


@pytest.fixture
def person(hosts: tuple[HostedAgency, HostedAgency]) -> User:
    person = a_person()
    belongs_to_both(person, *hosts)
    return person


@pytest.fixture
def visitor(live_server: LiveServer) -> Visitor:
    return Visitor(live_server.url)


def test_a_copied_cookie_is_nobody_s_on_every_other_host(
    visitor: Visitor, hosts: tuple[HostedAgency, HostedAgency], person: User
) -> None:
    north, south = hosts
    second = DomainFactory.create(agency=north.tenant.agency).host
    places = {north.host: {north.host, second}, south.host: {south.host}, OWN: {OWN}}
    for begun, good in places.items():
        visitor.cookies.clear()
        session = visitor.sign_in(begun, person)
        for host in (north.host, second, south.host, OWN):
            visitor.cookies["session"] = session
            assert visitor.is_signed_in(host) is (host in good), (begun, host)
            if host not in good:
                _has_no_effect(visitor, host)
                assert UserSession.objects.filter(session_key=session).exists()
        visitor.cookies["session"] = session
        assert visitor.is_signed_in(begun)
    assert visitor.set_cookies
    assert not [cookie for cookie in visitor.set_cookies if re.search(r"\bdomain\b", cookie, re.IGNORECASE)]


def _has_no_effect(visitor: Visitor, host: str) -> None:
    """Whatever is sent with a copied cookie changes nothing for its owner, not even by signing out."""
    assert visitor.post(host, "/console/plans/new", name="Stolen").status_code in {302, 403}
    answer: Any = visitor.post(host, "/account/sign-out")
    assert answer.status_code == 302


def test_signing_in_with_a_copied_cookie_leaves_the_other_host_s_session_as_it_was(
    visitor: Visitor, hosts: tuple[HostedAgency, HostedAgency], person: User
) -> None:
    north, south = hosts
    first = visitor.sign_in(north.host, person)
    second = visitor.sign_in(south.host, a_person())
    assert first != second
    visitor.cookies["session"] = first
    assert visitor.is_signed_in(north.host)
