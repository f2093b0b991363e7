"""Who belongs to two agencies sees on each one's host what is that agency's, and on the installation's everything."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Domain, Invitation, Mail, Member, Plan, User
from agency.services import invite_member
from agency.services.hosts import invalidate_hosts
from agency.services.invitations import invitation_of_link
from agency.services.mail.content import invitation_path
from agency.services.passwords import answer_address_requests
from agency.tasks import send_mail
from tests.agency.console.browsers import PASSWORD, a_browser, a_person, flashes, text
from tests.factories import WorkspaceFactory
from tests.flows.white_label.agencies import HostedAgency, Hosts
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db
SIGN_IN = "/account/sign-in"


def sign_in(here: HostedAgency, person: User, **more: str) -> Any:
    return here.browser().post(SIGN_IN, {"email": person.email, "password": PASSWORD, **more})


def test_the_console_is_that_of_the_host(hosts: Hosts, person: User) -> None:
    for here, other in (hosts, hosts[::-1]):
        browser = here.browser(person)
        page = text(browser.get("/console/"))
        assert here.tenant.agency.name in page
        assert "Switch to" not in page
        answer = browser.post("/console/switch", {"agency": str(other.tenant.agency.uuid)}, follow=True)
        assert flashes(answer) == ["You are not in this agency's team."]
        assert here.tenant.agency.name in text(answer)
    everywhere = text(a_browser(person).get("/console/"))
    assert all(one.tenant.agency.name in everywhere for one in hosts)


def test_the_other_agency_s_console_can_neither_be_read_nor_written(hosts: Hosts, person: User) -> None:
    here, other = hosts
    browser, foreign = here.browser(person), other.tenant.plan
    for path in (f"/console/plans/{foreign.uuid}", f"/console/plans/{foreign.uuid}/edit"):
        assert browser.get(path).status_code == 404
    changes = {"name": "Taken", "made_for": str(other.tenant.agency.uuid)}
    assert browser.post(f"/console/plans/{foreign.uuid}/edit", changes).status_code in {302, 404}
    assert browser.post(f"/console/plans/{foreign.uuid}/archive").status_code == 404
    assert Plan.objects.get(pk=foreign.pk).name == foreign.name
    assert Plan.objects.get(pk=foreign.pk).archived_at is None


def test_the_dashboard_is_that_of_the_host(hosts: Hosts, person: User) -> None:
    for here, other in (hosts, hosts[::-1]):
        browser = here.browser(person)
        assert here.tenant.workspace.name in text(browser.get("/app/channels"))
        browser.post("/app/switch", {"workspace": str(other.tenant.workspace.uuid)})
        page = text(browser.get("/app/channels"))
        assert here.tenant.workspace.name in page
        assert other.tenant.mark not in page
        assert browser.get(f"/app/leave/{other.tenant.workspace.uuid}").status_code == 404
        assert browser.post(f"/app/leave/{other.tenant.workspace.uuid}").status_code == 404
        settings = browser.post("/app/settings", {"made_for": str(other.tenant.workspace.uuid), "website": "x"})
        assert settings.status_code == 302
        assert settings["Location"] == reverse("app:home")
    assert set(Workspace.objects.owned_by(person)) == {one.tenant.workspace for one in hosts}


def test_what_was_chosen_elsewhere_is_not_asked_for_here(hosts: Hosts, person: User) -> None:
    """The last choice is the person's, and may be of another agency: here it counts for nothing."""
    for one in hosts:
        a_browser(person).post("/app/switch", {"workspace": str(one.tenant.workspace.uuid)})
        a_browser(person).post("/console/switch", {"agency": str(one.tenant.agency.uuid)})
        for here in hosts:
            browser = here.browser(person)
            assert here.tenant.workspace.name in text(browser.get("/app/channels"))
            assert here.tenant.agency.name in text(browser.get("/console/"))


def test_people_arrive_at_what_is_theirs_on_this_host(hosts: Hosts, person: User) -> None:
    here, other = hosts
    Member.objects.filter(user=person, agency=here.tenant.agency).delete()
    support, stranger = a_person(is_staff=True), a_person()
    assert sign_in(here, person)["Location"] == "/app/"
    assert sign_in(other, person)["Location"] == "/console/"
    assert sign_in(here, support)["Location"] == "/account/invitations"
    assert sign_in(here, stranger)["Location"] == "/account/invitations"
    assert sign_in(here, person, next=f"http://{other.host}/app/")["Location"] == "/app/"
    assert sign_in(here, person, next=f"//{other.host}/app/")["Location"] == "/app/"
    assert sign_in(here, person, next="/app/channels")["Location"] == "/app/channels"


def test_a_person_without_membership_at_the_agency_sees_a_kind_page(hosts: Hosts, person: User) -> None:
    here, other = hosts
    only_there = a_person(name="Grace")
    Workspace.objects.filter(pk=other.tenant.workspace.pk).update(owner=only_there)
    Member.objects.create(user=only_there, agency=other.tenant.agency, role="owner")
    browser, name = here.browser(only_there), here.tenant.agency.name
    for path, status, sentence in (
        ("/console/", 403, f"You are not in the team of {name}."),
        ("/app/", 403, f"{name} has set up no workspace for you yet."),
        ("/account/invitations", 200, f"You have no access at {name} yet."),
    ):
        answer = browser.get(path)
        assert answer.status_code == status
        assert sentence in text(answer)
        assert other.tenant.mark not in text(answer)
    for path in ("/console/plans/new", "/app/settings"):
        assert browser.post(path, {"name": "New"}).status_code == 403


def test_an_invitation_is_seen_and_answered_on_its_agency_s_host_alone(hosts: Hosts) -> None:
    here, other = hosts
    guest = a_person()
    for one in hosts:
        invite_member(agency=one.tenant.agency, email=guest.email, name="", role="viewer", now=now(), by=SYSTEM)
    foreign = Invitation.objects.get(agency=other.tenant.agency, email=guest.email)
    browser = here.browser(guest)
    page = text(browser.get("/account/invitations"))
    assert here.tenant.agency.name in page
    assert other.tenant.agency.name not in page
    for answer in ("accept", "decline"):
        browser.post(f"/account/invitations/{foreign.uuid}/{answer}")
    foreign.refresh_from_db()
    assert foreign.is_open
    token = invitation_path(foreign).rpartition("/")[2]
    assert invitation_of_link(token) == foreign
    assert here.browser().get(f"/account/invitation/{token}").status_code == 410
    assert other.browser().get(f"/account/invitation/{token}")["Location"] == "/account/invitation"


def test_a_password_is_asked_for_in_the_name_of_the_host(hosts: Hosts, person: User) -> None:
    here, _ = hosts
    for browser, agency in ((here.browser(), here.tenant.agency), (a_browser(), None)):
        assert browser.post("/account/password-reset", {"email": person.email}).status_code == 302
        answer_address_requests()
        assert Mail.objects.latest("id").agency == agency


def test_a_link_to_set_a_password_is_worth_nothing_once_its_host_is_another_agency_s(
    hosts: Hosts, mailoutbox: list[Any]
) -> None:
    here, other = hosts
    WorkspaceFactory.create(agency=here.tenant.agency, owner_email="first@example.com")
    send_mail()
    [path] = re.findall(rf"http://{here.host}[^/]*(/account/set-password/\S+)", str(mailoutbox[-1].body))
    chosen = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    page = here.browser().get(path, follow=True)
    assert page.status_code == 200
    assert "New password" in text(page)
    Domain.objects.filter(pk=here.domain.pk).update(agency=other.tenant.agency, is_primary=False)
    invalidate_hosts()
    for browser in (a_browser(), here.browser(), other.browser()):
        page = browser.get(path, follow=True)
        assert page.status_code == 410
        browser.post(page.request["PATH_INFO"], chosen)
    assert not User.objects.get(email="first@example.com").has_usable_password()


def test_nobody_leaves_another_agency_s_team_from_here(hosts: Hosts, person: User) -> None:
    here, other = hosts
    membership = Member.objects.get(user=person, agency=other.tenant.agency)
    Member.objects.create(user=a_person(), agency=other.tenant.agency, role="owner")
    browser = here.browser(person)
    assert browser.get(f"/account/teams/{membership.pk}/leave").status_code == 404
    assert browser.post(f"/account/teams/{membership.pk}/leave").status_code == 404
    assert Member.objects.filter(pk=membership.pk).exists()


def test_a_host_costs_the_console_one_statement_and_the_dashboard_none(hosts: Hosts, person: User) -> None:
    here, _ = hosts
    a_browser(person).post("/app/switch", {"workspace": str(here.tenant.workspace.uuid)})
    a_browser(person).post("/console/switch", {"agency": str(here.tenant.agency.uuid)})
    for path, most in (("/console/plans", 1), ("/app/channels", 0), ("/account/profile", 1), ("/account/sign-in", 1)):
        counts = []
        for browser in (a_browser(person), here.browser(person)):
            browser.get(path)
            with CaptureQueriesContext(connection) as asked:
                browser.get(path)
            counts.append(len(asked))
        assert counts[1] <= counts[0] + most, path
