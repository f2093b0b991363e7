"""Links in e-mails whose host is gone, or whose workspace has moved: sent again, and never a dead end."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Domain, Invitation, Mail, User
from agency.services import accept_invitation, withdraw_invitation
from agency.services.dns import HostRecords
from agency.services.domains import record_check, remove_domain
from agency.tasks import send_mail
from tests.agency.console.browsers import a_browser, a_person, text
from tests.agency.invitations import NEW, invited
from tests.factories import DomainFactory, WorkspaceFactory
from tests.tenants import HANDLER, Tenant, an_address
from workspaces.subaccounts.services import create_workspace, invite_workspace_member, move_workspace

pytestmark = pytest.mark.django_db
HOST, NEXT = "app.ada.localhost", "next.ada.localhost"


@pytest.fixture
def own(a: Tenant) -> Domain:
    return DomainFactory.create(agency=a.agency, host=HOST)


def sent_links() -> dict[str, str]:
    """The link in each e-mail that goes out now, by its recipient."""
    outbox.outbox.clear()
    send_mail()
    found = {sent.to[0]: re.search(r"http://\S+/account/\S+", str(sent.body)) for sent in outbox.outbox}
    return {recipient: link[0] for recipient, link in found.items() if link}


def split(link: str) -> tuple[str, str]:
    host, path = link.removeprefix("http://").split("/", 1)
    return host, f"/{path}"


def opened(link: str) -> tuple[Client, Any]:
    """A browser that has followed a link as far as it leads, over hosts too."""
    browser = Client(REMOTE_ADDR=an_address())
    browser.handler = HANDLER
    for _ in range(5):
        host, path = split(link)
        answer = browser.get(path, headers={"host": host})
        if answer.status_code != 302:
            return browser, answer
        led = answer["Location"]
        link = led if led.startswith("http") else f"http://{host}{led}"
    raise AssertionError(link)


def test_open_invitations_are_sent_again_when_the_host_of_their_links_is_removed(a: Tenant, own: Domain) -> None:
    person = a_person()
    emails = ["new@example.com", person.email, "withdrawn@example.com", "expired@example.com"]
    new, known, withdrawn, expired = (invited(a.agency, email) for email in emails)
    member = invite_workspace_member(
        workspace=a.workspace, email="member@example.com", name="Mia", now=now(), by=SYSTEM
    )
    create_workspace(
        agency=a.agency, name="Shop", owner_name="Nia", owner_email="nia@example.com", now=now(), by=SYSTEM
    )
    first = sent_links()
    assert {split(link)[0] for link in first.values()} == {HOST}
    accept_invitation(invitation=known, user=person, now=now(), by=SYSTEM)
    withdraw_invitation(invitation=withdrawn, now=now(), by=SYSTEM)
    Invitation.objects.filter(pk=expired.pk).update(expires_at=now())
    DomainFactory.create(agency=a.agency, host=NEXT)
    invited(a.agency, "later@example.com")
    assert split(sent_links()["later@example.com"])[0] == NEXT
    remove_domain(domain=Domain.objects.get(pk=own.pk), by=SYSTEM)
    again = sent_links()
    assert {email: split(link)[0] for email, link in again.items()} == {
        new.email: NEXT,
        member.email: NEXT,
        a.workspace.owner_email: NEXT,
        "nia@example.com": NEXT,
    }
    for email in again:
        assert opened(again[email])[1].status_code == 200
    for email in (new.email, member.email):  # whoever has the host now may read them there
        assert opened(f"http://testserver{split(first[email])[1]}")[1].status_code == 410
    remove_domain(domain=Domain.objects.get(host=NEXT), by=SYSTEM)
    assert {split(link)[0] for link in sent_links().values()} == {"testserver"}


def test_so_they_are_when_its_record_is_gone_for_good(a: Tenant, own: Domain) -> None:
    """Meanwhile no link on it is sent: whoever has the host's DNS may read what is typed there."""
    invited(a.agency, "before@example.com")
    assert split(sent_links()["before@example.com"])[0] == HOST
    gone = HostRecords(texts=(), points_here=True)
    record_check(domain=own, records=gone, now=now(), by=SYSTEM)
    invited(a.agency, "meanwhile@example.com")
    assert split(sent_links()["meanwhile@example.com"])[0] == "testserver"
    record_check(domain=own, records=gone, now=now() + timedelta(days=15), by=SYSTEM)
    assert {email: split(link)[0] for email, link in sent_links().items()} == {"before@example.com": "testserver"}


def test_an_owner_without_a_password_gets_a_link_of_the_new_agency_and_the_old_one_says_so(
    a: Tenant, b: Tenant, own: Domain
) -> None:
    DomainFactory.create(agency=b.agency, host="app.bob.localhost")
    workspace = WorkspaceFactory.create(agency=a.agency, name="Shop", owner_email="nia@example.com")
    old = sent_links()["nia@example.com"]
    for to in (b, a, b):
        workspace = move_workspace(workspace=workspace, agency=to.agency, now=now(), by=SYSTEM)
    (mail,) = Mail.objects.filter(kind=Mail.Kind.OWNER_INVITATION, sent_at=None)
    assert (mail.agency, mail.context["agency"]) == (b.agency, b.agency.name)
    new = sent_links()["nia@example.com"]
    assert (split(old)[0], split(new)[0]) == (HOST, "app.bob.localhost")
    _, page = opened(old)
    assert page.status_code == 410
    assert "If you have a newer e-mail, use its link" in text(page)
    browser, page = opened(new)
    answer = browser.post(
        page.wsgi_request.path, {"new_password1": NEW, "new_password2": NEW}, headers={"host": "app.bob.localhost"}
    )
    assert answer["Location"] == "/app/"


def test_an_owner_who_can_sign_in_or_was_never_written_to_gets_nothing_by_a_move(a: Tenant, b: Tenant) -> None:
    for email in ("nia@example.com", "ned@example.com"):
        workspace = WorkspaceFactory.create(agency=a.agency, name="Shop", owner_email=email)
        if email.startswith("nia"):
            sent_links()
            User.objects.filter(email=email).update(password="pbkdf2_sha256$1$x$y")
        else:
            Mail.objects.filter(user=workspace.owner).delete()
        move_workspace(workspace=workspace, agency=b.agency, now=now(), by=SYSTEM)
        assert sent_links() == {}


def test_an_invitation_of_a_moved_workspace_tells_on_the_old_host_to_look_for_the_newer_e_mail(
    a: Tenant, b: Tenant, own: Domain
) -> None:
    DomainFactory.create(agency=b.agency, host="app.bob.localhost")
    invite_workspace_member(workspace=a.workspace, email="mia@example.com", name="Mia", now=now(), by=SYSTEM)
    old = sent_links()["mia@example.com"]
    move_workspace(workspace=a.workspace, agency=b.agency, now=now(), by=SYSTEM)
    _, page = opened(old)
    assert page.status_code == 410
    assert "If you have a newer e-mail, use its link" in text(page)
    assert b.agency.name not in text(page)
    _, page = opened(f"http://testserver{split(old)[1]}")
    assert page.status_code == 410  # whoever could read it there answers it nowhere else
    _, page = opened(sent_links()["mia@example.com"])
    assert page.status_code == 200


def test_a_link_to_set_a_password_is_followed_on_an_agency_s_host_by_its_own_people_alone(a: Tenant, b: Tenant) -> None:
    host = DomainFactory.create(agency=b.agency, host="app.bob.localhost").host
    person = a_person()
    a_browser().post("/account/password-reset", {"email": person.email})
    path = split(sent_links()[person.email])[1]
    browser = Client(REMOTE_ADDR=an_address())
    browser.handler = HANDLER
    answer = browser.get(path, headers={"host": host})
    assert (answer.status_code, answer["Referrer-Policy"]) == (410, "no-referrer")
    assert browser.post(path, {"new_password1": NEW, "new_password2": NEW}, headers={"host": host}).status_code == 410
    person.refresh_from_db()
    assert not person.check_password(NEW)
