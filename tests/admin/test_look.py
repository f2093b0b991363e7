"""Support's pages and e-mails are the installation's own: no agency's name, logo or colour dresses them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as outbox
from django.core.mail import EmailMultiAlternatives
from django.test import Client

from agency.actors import SYSTEM
from agency.models import Agency, Brand, User
from agency.services import change_sender, set_accent, set_picture
from agency.services.passwords import queue_password_reset_mail
from agency.tasks import send_mail
from tests.agency.two_factor import an_app
from tests.factories import DomainFactory, MemberFactory
from tests.images.pictures import a_picture

pytestmark = pytest.mark.django_db
PAGES = ("/admin/", "/admin/agency/agency/", "/admin/agency/domain/", "/admin/agency/user/", "/admin/nothing")
OF_THE_PERSON = ("/account/profile", "/account/security", "/account/two-factor/begin", "/account/invitations")


@pytest.fixture
def employer(agency: Agency, superuser: User) -> Agency:
    """An agency with a look of its own, in whose team somebody of support is as well."""
    DomainFactory.create(agency=agency)
    set_accent(agency=agency, accent="#0d9488", by=SYSTEM)
    set_picture(agency=agency, kind="logo", file=a_picture(), by=SYSTEM)
    change_sender(agency=agency, sender_name="Harbour Team", reply_to="", by=SYSTEM)
    MemberFactory.create(agency=agency, email=superuser.email, role="owner")
    return agency


def dressed_as(page: Any, agency: Agency) -> list[str]:
    """What of an agency's look is in a page."""
    brand = Brand.objects.get(agency=agency)
    marks = (str(brand.logo_digest), brand.accent.removeprefix("#"), "/brand/0d9488.css", f"<title>{agency.name}")
    return [mark for mark in marks if mark in page.content.decode()]


def test_pages_for_support_have_no_agency_s_look(employer: Agency, support: Client, superuser: User) -> None:
    assert dressed_as(support.get("/console/team"), employer) == []  # on the installation's host
    for path in (*PAGES, *OF_THE_PERSON):
        page = support.get(path)
        assert (path, dressed_as(page, employer)) == (path, [])
        if path in OF_THE_PERSON:
            assert employer.name not in page.content.decode().partition("<main")[0]
    an_app(superuser)
    browser = Client()
    answer = browser.post("/admin/login/", {"username": superuser.email, "password": "correct-horse-battery"})
    assert answer["Location"] == "/account/code"
    for path in ("/admin/login/", "/account/code", "/account/recovery-code", "/account/password-reset"):
        page = browser.get(path)
        assert dressed_as(page, employer) == []
        assert employer.name not in page.content.decode()


def test_e_mails_to_support_are_the_installation_s(
    employer: Agency, superuser: User, sign_in: Callable[[User], Client]
) -> None:
    sign_in(superuser)
    sign_in(superuser)  # with another browser, which is told by e-mail
    queue_password_reset_mail(email=superuser.email)
    an_app(superuser)
    send_mail()
    assert {sent.subject for sent in outbox.outbox} >= {"Set a new password"}
    assert len(outbox.outbox) >= 3
    for sent in outbox.outbox:
        assert isinstance(sent, EmailMultiAlternatives)
        text = f"{sent.from_email} {sent.subject} {sent.body} {sent.alternatives}"
        assert sent.from_email == "no-reply@localhost"
        assert not [mark for mark in (employer.name, "Harbour Team", "0d9488", "agency.localhost") if mark in text]
