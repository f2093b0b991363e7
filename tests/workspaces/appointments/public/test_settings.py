"""The owner of a workspace switches its booking page on, and gives the link to customers."""

import re
from html import unescape

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.agency.console.browsers import a_browser
from tests.factories import ClassSessionFactory, ServiceFactory, StaffFactory, WorkspaceFactory
from tests.images.qr import read_picture
from tests.tenants import Tenant
from workspaces.appointments.models import BookingPage
from workspaces.appointments.services.booking_pages import booking_url, change_booking_page
from workspaces.catalogue.models import ServiceStaff
from workspaces.subaccounts.services import change_workspace, settings_in_texts

pytestmark = pytest.mark.django_db
PAGE = "/app/booking-page"
TYPED = {"enabled": "on", "slug": "salon", "introduction": "Welcome.", "cancel_notice_minutes": "1440"}


@pytest.fixture
def owner(a: Tenant) -> Client:
    return a_browser(a.workspace.owner)


def test_an_owner_switches_the_page_on_and_sees_its_link(owner: Client, a: Tenant) -> None:
    before = owner.get(PAGE).content.decode()
    assert "Your link" not in before
    assert not BookingPage.objects.exists()  # looking makes nothing
    assert owner.get(f"{PAGE}/code.png").status_code == 404
    assert owner.post(PAGE, TYPED).status_code == 302
    page = BookingPage.objects.get()
    assert (page.slug, page.enabled, page.introduction, page.cancel_notice_minutes) == (
        "salon",
        True,
        "Welcome.",
        1_440,
    )
    shown = owner.get(PAGE).content.decode()
    assert "http://testserver/book/salon" in shown
    assert "&lt;a href=&quot;http://testserver/book/salon&quot;&gt;Book an appointment&lt;/a&gt;" in shown
    [code] = re.findall(r'class="qr" src="([^"]+)"', shown)
    assert read_picture(unescape(code)) == "http://testserver/book/salon"
    assert "Nothing can be booked yet" in shown
    assert not page.offers_classes
    service = ServiceFactory.create(workspace=a.workspace, kind="appointment", duration_minutes=30)
    ServiceStaff.objects.create(service=service, staff=StaffFactory.create(workspace=a.workspace))
    assert "Nothing can be booked yet" not in owner.get(PAGE).content.decode()
    ServiceStaff.objects.all().delete()
    ClassSessionFactory.create(workspace=a.workspace)
    assert "Nothing can be booked yet" in owner.get(PAGE).content.decode()
    assert owner.post(PAGE, {**TYPED, "offers_classes": "on"}).status_code == 302
    assert "Nothing can be booked yet" not in owner.get(PAGE).content.decode()
    picture = owner.get(f"{PAGE}/code.png")
    assert picture.headers["Content-Type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    assert owner.post(PAGE, {**TYPED, "enabled": ""}).status_code == 302
    assert not BookingPage.objects.get().enabled


@pytest.mark.parametrize(
    "slug", ["", "ab", "Salon", "a--b", "-salon", "salon-", "s\u00e4lon", "manage", "seat", "x" * 61, "taken"]
)
def test_an_address_is_plain_and_belongs_to_one_page(slug: str, owner: Client) -> None:
    other = WorkspaceFactory.create(name="Other")
    change_booking_page(workspace=other, now=now(), by=SYSTEM, slug="taken")
    assert owner.post(PAGE, {**TYPED, "slug": slug}).status_code == 422
    assert BookingPage.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "slugs"),
    [
        ("Corner Salon", ["corner-salon", "corner-salon-2", "corner-salon-3"]),
        ("\u0635\u0627\u0644\u0648\u0646", ["book", "book-2", "book-3"]),
        ("Manage", ["book-manage", "book-manage-2", "book-manage-3"]),
        ("_-_", ["book", "book-2", "book-3"]),
        ("W" * 120, ["w" * 56, f"{'w' * 56}-2", f"{'w' * 56}-3"]),
    ],
)
def test_the_first_address_comes_from_the_name(name: str, slugs: list[str]) -> None:
    made = [
        change_booking_page(workspace=WorkspaceFactory.create(name=name), now=now(), by=SYSTEM, enabled=True)
        for _ in slugs
    ]
    assert [page.slug for page in made] == slugs


def test_texts_have_the_pages_address_unless_the_workspace_has_a_link_of_its_own(a: Tenant) -> None:
    assert settings_in_texts(a.workspace)["booking_link"] == ""
    change_booking_page(workspace=a.workspace, now=now(), by=SYSTEM, enabled=True, slug="salon")
    assert settings_in_texts(a.workspace)["booking_link"] == booking_url(a.workspace) == "http://testserver/book/salon"
    own = change_workspace(workspace=a.workspace, by=SYSTEM, booking_link="https://book.example/")
    assert settings_in_texts(own)["booking_link"] == "https://book.example/"
    change_booking_page(workspace=a.workspace, now=now(), by=SYSTEM, enabled=False)
    assert booking_url(a.workspace) is None
