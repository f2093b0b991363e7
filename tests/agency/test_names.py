"""Names that end in e-mails hold no web address, through whichever door they come."""

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, User
from agency.services import invite_member
from agency.services.agencies import holds_web_address
from config.errors import InvalidInput
from tests.agency.console.browsers import a_browser, a_person, text
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace

REFUSED = "A name must not hold a web address."
ADDRESSES = [
    "https://evil.example/x",
    "HTTP://X",
    "see ftp://files",
    "www.evil",
    "Www2.Evil",
    "evil.com",
    "Paypal.Com",
    "PAYPAL.COM",
    "Win at evil.io!",
    "(evil.de)",
    "evil.com.",
    "evil.com,",
    "evil.com?x",
    "evil.com:8080",
    "evil.unheard-of.zz",
    "evil.whatever/login",
    "evil\uff0ecom",
    "evil\u3002com",
    "ev\u200bil.com",
    "münchen.de",
    "пример.рф",
    "shop.xn--p1ai",
    "a.b.c.shop",
    "mailto:ada@example.com",
    "ada@example.com or evil.com",
]
NAMES = [
    "Corner Salon",
    "Dr. Smith",
    "Dr.Smith",
    "St.Pauli",
    "J.R.R. Tolkien",
    "Müller GmbH & Co. KG",
    "Acme, Inc.",
    "e.V.",
    "S.p.A.",
    "Bread & Butter",
    "24/7 Gym",
    "Who? What: Where",
    "1.5 Degrees",
    "v2.0",
    "and/or",
    "Wait...what",
    "ada@example.com",
    "花屋",
]


@pytest.mark.parametrize("name", ADDRESSES)
def test_what_a_mail_program_makes_a_link_of(name: str) -> None:
    assert holds_web_address(name)


@pytest.mark.parametrize("name", NAMES)
def test_what_stays_a_name(name: str) -> None:
    assert not holds_web_address(name)


def test_a_long_name_is_judged_at_once() -> None:
    for name in ("a." * 60, "a-" * 60, "." * 120, "w" * 120, "a.b" * 40, "@" * 120):
        holds_web_address(name * 100)


@pytest.mark.django_db
def test_the_api_says_which_field(a: Tenant) -> None:
    for body, field in (
        (a_new_customer(name="Shop at evil.com"), "name"),
        (a_new_customer(owner={"name": "evil.com", "email": "ada@example.com"}), "owner.name"),
    ):
        answer = a.api.post("/workspaces", body)
        assert (answer.status_code, answer.json()["errors"]) == (422, {field: [REFUSED]})
    assert not Workspace.objects.exists()
    assert not User.objects.exists()
    changed = a.api.patch(a.path, {"name": "https://evil.example"})
    assert (changed.status_code, changed.json()["errors"]) == (422, {"name": [REFUSED]})


@pytest.mark.django_db
def test_so_do_the_console_and_a_persons_own_page(a: Tenant, owner: Client) -> None:
    fields = {"name": "Shop", "owner_name": "evil.com", "owner_email": "ada@example.com", "timezone": "UTC"}
    page = owner.post("/console/sub-accounts/new", fields)
    assert (page.status_code, f"Owner's name: {REFUSED}" in text(page)) == (422, True)
    edit = owner.post(f"/console{a.path.replace('workspaces', 'sub-accounts')}/edit", {**fields, "name": "evil.com"})
    assert (edit.status_code, f"Name: {REFUSED}" in text(edit)) == (422, True)
    person = a_person(name="Ada")
    profile = a_browser(person).post("/account/profile", {"name": "evil.com"})
    assert (profile.status_code, f"Your name: {REFUSED}" in text(profile)) == (422, True)
    person.refresh_from_db()
    assert person.name == "Ada"


@pytest.mark.django_db
def test_and_every_service_that_takes_a_name_refuses_by_itself(a: Tenant) -> None:
    with pytest.raises(InvalidInput):
        invite_member(agency=a.agency, email="n@example.com", name="evil.com", role="admin", now=now(), by=SYSTEM)
    assert Agency.objects.count() == 1
