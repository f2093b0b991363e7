"""Nobody belongs to a team before they have said so; until then an agency has an address and nothing else."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Invitation, Mail, Member, User
from agency.services import InvitationEnded, accept_invitation, invite_member, withdraw_invitation
from agency.services.invitations import MOST_WAITING, AlreadyInvited, TooManyInvitations
from agency.tasks import send_mail
from config.logs import redact
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, flashes, text
from tests.agency.invitations import INVITATIONS, NEW, answer, invited, join, mailed_link
from tests.factories import WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.subaccounts.services import create_workspace

pytestmark = pytest.mark.django_db
ENDED = "This invitation no longer works"


def is_member(tenant: Tenant, email: str) -> bool:
    return Member.objects.filter(agency=tenant.agency, user__email=email).exists()


def sign_in(user: User, browser: Client | None = None) -> Any:
    return (browser or a_browser()).post("/account/sign-in", {"email": user.email, "password": PASSWORD})


def test_somebody_new_sets_a_password_with_the_link_and_is_in_the_team(a: Tenant) -> None:
    invited(a.agency, "nora@example.com", name="Nora")
    browser = a_browser()
    link = mailed_link()
    page = browser.get(browser.get(link)["Location"])
    assert f"{a.agency.name} invites you to its team as an admin." in text(page)
    assert 'value="Nora"' in page.content.decode()
    assert not User.objects.exists()
    assert join(browser, link, name="Nora N.")["Location"] == "/console/"
    assert browser.get("/console/").status_code == 200
    person = User.objects.get()
    assert (person.email, person.name, person.check_password(NEW)) == ("nora@example.com", "Nora N.", True)
    assert a_browser().get(link).status_code == 302
    assert ENDED in text(a_browser().get(link, follow=True))
    entries = ActivityEntry.objects.filter(actor_label="nora@example.com").order_by("id")
    assert list(entries.values_list("action", flat=True)) == ["password.set", "member.added"]


@pytest.mark.parametrize(
    "fields",
    [
        {"new_password1": "12345", "new_password2": "12345"},
        {"new_password2": "other"},
        {"name": ""},
        {"name": "evil.com"},
    ],
)
def test_a_form_that_is_refused_leaves_nothing_and_can_be_sent_again(a: Tenant, fields: dict[str, str]) -> None:
    invited(a.agency, "nora@example.com")
    browser, link = a_browser(), mailed_link()
    assert join(browser, link, **fields).status_code == 422
    assert not User.objects.exists()
    assert join(browser, link).status_code == 302


def test_somebody_with_an_account_signs_in_and_answers(a: Tenant, b: Tenant) -> None:
    person = a_member(b.agency).user
    invitation = invited(a.agency, person.email)
    browser = a_browser()
    to_sign_in = browser.get(browser.get(mailed_link())["Location"])
    assert to_sign_in["Location"] == "/account/sign-in?next=%2Faccount%2Finvitations"
    browser.post(to_sign_in["Location"], {"email": person.email, "password": PASSWORD, "next": INVITATIONS})
    assert f"{a.agency.name} invites you to its team as an admin." in text(browser.get(INVITATIONS))
    assert not is_member(a, person.email)
    assert flashes(answer(browser, invitation, "accept")) == [f"You have joined {a.agency.name}."]
    assert is_member(a, person.email)
    assert person.check_password(PASSWORD)


def test_an_invitation_and_its_acceptance_move_nobodys_landing_page(a: Tenant, b: Tenant) -> None:
    """The inviting agency comes first by its name, and by its age nothing does."""
    a.agency.name, a.agency.name_key = "AAA", "aaa"
    a.agency.save()
    customer = WorkspaceFactory.create(agency=b.agency).owner
    member = a_member(b.agency).user
    for person, home, shown in ((customer, "/app/", b), (member, "/console/", b)):
        person.set_password(PASSWORD)
        person.save()
        invitation = invited(a.agency, person.email)
        assert sign_in(person)["Location"] == home
        browser = a_browser(person)
        answer(browser, invitation, "accept")
        assert sign_in(person)["Location"] == home
        person.refresh_from_db()
        assert shown.agency.name in text(a_browser(person).get(home, follow=True))
        browser.post("/console/switch", {"agency": str(a.agency.uuid)})
        assert sign_in(person)["Location"] == "/console/"
        person.refresh_from_db()
        assert "AAA" in text(a_browser(person).get("/console/"))


def test_signing_in_mentions_what_waits(a: Tenant) -> None:
    person = a_member(a.agency).user
    browser = a_browser()
    sign_in(person, browser)
    assert flashes(browser.get("/console/")) == []
    invited(Tenant().agency, person.email)
    sign_in(person, browser)
    assert flashes(browser.get("/console/")) == ["You have an invitation to answer. See “Your account”."]


def test_declining_begins_nothing_and_shows_no_place(a: Tenant) -> None:
    person = a_person()
    invitation = invited(a.agency, person.email)
    answer(a_browser(person), invitation, "decline")
    assert not is_member(a, person.email)
    assert ActivityEntry.objects.get(action="invitation.declined").address == ""
    assert answer(a_browser(person), invitation, "accept").status_code == 404
    assert not is_member(a, person.email)


def test_nobody_answers_for_somebody_else(a: Tenant) -> None:
    invitation, stranger = invited(a.agency, "nora@example.com"), a_person()
    browser = a_browser(stranger)
    for how in ("accept", "decline"):
        assert answer(browser, invitation, how).status_code == 404
    page = browser.get(mailed_link(), follow=True)
    assert page.status_code == 403
    assert "It is for nora@example.com, but you are signed in as" in text(page)
    with pytest.raises(InvitationEnded):
        accept_invitation(invitation=invitation, user=stranger, now=now(), by=SYSTEM)
    assert Invitation.objects.get().is_open


def test_an_invitation_expires_after_seven_days(a: Tenant) -> None:
    person = a_person()
    invitation = invited(a.agency, person.email)
    invited(a.agency, "new@example.com")
    link = mailed_link()
    with time_machine.travel(now() + timedelta(days=7, minutes=1), tick=False):
        page = a_browser().get(link, follow=True)
        assert (page.status_code, ENDED in text(page)) == (410, True)
        browser = a_browser(person)
        assert a.agency.name not in text(browser.get(INVITATIONS))
        assert answer(browser, invitation, "accept").status_code == 404
        with pytest.raises(InvitationEnded):
            accept_invitation(invitation=invitation, user=person, now=now(), by=SYSTEM)
        invited(a.agency, person.email)  # room for a new one
    assert [one.status for one in Invitation.objects.filter(email=person.email).order_by("id")] == ["withdrawn", "open"]


def test_a_link_that_is_made_up_opens_nothing(a: Tenant, db: None) -> None:
    invitation = invited(a.agency, "nora@example.com")
    for token in ("x", invitation.uuid.hex, f"{invitation.uuid.hex}:{'A' * 43}", "%00", "a" * 5000):
        assert a_browser().get(f"/account/invitation/{token}").status_code in {404, 410}
    assert a_browser().get("/account/invitation").status_code == 410


def test_the_link_stays_out_of_the_logs_the_address_and_the_database(a: Tenant) -> None:
    invited(a.agency, "nora@example.com")
    link = mailed_link()
    assert link.rsplit(":", 1)[1] not in redact(f"GET {link}")
    opened = a_browser().get(link)
    assert (opened["Location"], opened["Referrer-Policy"]) == ("/account/invitation", "no-referrer")
    assert "no-store" in opened["Cache-Control"]
    assert link.rsplit(":", 1)[1] not in str(Mail.objects.values().get())


def test_previews_of_the_link_answer_nothing(a: Tenant) -> None:
    invited(a.agency, "nora@example.com")
    link = mailed_link()
    for _ in range(3):
        a_browser().get(link, follow=True)
        a_browser().head(link)
    assert Invitation.objects.get().is_open
    assert a_browser().post(link).status_code == 405


def test_an_invitation_that_was_withdrawn_brings_no_mail_any_more(a: Tenant, mailoutbox: list[Any]) -> None:
    withdraw_invitation(invitation=invited(a.agency, "nora@example.com"), now=now(), by=SYSTEM)
    send_mail()
    assert mailoutbox == []
    assert Mail.objects.get().given_up_at


def test_an_account_that_is_closed_cannot_join(a: Tenant) -> None:
    a_person(email="nora@example.com", is_active=False)
    invited(a.agency, "nora@example.com")
    assert a_browser().get(mailed_link(), follow=True).status_code == 410


def test_everybody_leaves_but_the_last_owner(a: Tenant) -> None:
    last = a_member(a.agency, "owner")
    for role in ("owner", "admin", "viewer"):
        member = a_member(a.agency, role)
        browser = a_browser(member.user)
        assert f"/account/teams/{member.pk}/leave" in browser.get(INVITATIONS).content.decode()
        assert f"Leave {a.agency.name}?" in text(browser.get(f"/account/teams/{member.pk}/leave"))
        left = browser.post(f"/account/teams/{member.pk}/leave", follow=True)
        assert flashes(left) == [f"You have left {a.agency.name}."]
        assert "You are not in a team or workspace yet." in text(left)
        assert browser.get("/console/").status_code == 403
    assert ActivityEntry.objects.filter(action="member.left").count() == 3
    refused = a_browser(last.user).post(f"/account/teams/{last.pk}/leave", follow=True)
    assert flashes(refused) == ["An agency needs at least one owner."]
    assert is_member(a, last.user.email)


def test_nobody_leaves_for_somebody_else(a: Tenant) -> None:
    member, other = a_member(a.agency), a_member(a.agency)
    for pk in (other.pk, 2**62, 10**400):
        assert a_browser(member.user).post(f"/account/teams/{pk}/leave").status_code == 404
    assert is_member(a, other.user.email)


def test_a_hundred_invitations_may_wait(a: Tenant) -> None:
    rows = [
        Invitation(agency=a.agency, email=f"p{n}@example.com", role="viewer", expires_at=now() + timedelta(days=1))
        for n in range(MOST_WAITING)
    ]
    Invitation.objects.bulk_create(rows)
    with pytest.raises(TooManyInvitations):
        invited(a.agency, "one-more@example.com")


@pytest.mark.django_db(transaction=True)
def test_of_answers_and_invitations_at_once_one_counts(a: Tenant) -> None:
    def ask(_: int) -> str:
        try:
            invite_member(agency=a.agency, email="x@example.com", name="X", role="admin", now=now(), by=SYSTEM)
        except AlreadyInvited:
            return "refused"
        return "invited"

    assert sorted(at_once(ask, times=4)) == ["invited", "refused", "refused", "refused"]
    invitation, person = Invitation.objects.get(), a_person(email="x@example.com")
    browsers = [a_browser(person) for _ in range(4)]
    hows = ["accept", "accept", "decline", "decline"]
    at_once(lambda number: answer(browsers[number], invitation, hows[number]).status_code, times=4)
    invitation.refresh_from_db()
    assert is_member(a, person.email) == (invitation.status == "accepted")
    assert ActivityEntry.objects.filter(action__in=["member.added", "invitation.declined"]).count() == 1


def test_the_page_takes_as_many_queries_for_many_invitations_as_for_two(
    a: Tenant, django_assert_max_num_queries: Any
) -> None:
    person = a_person()
    browser = a_browser(person)
    for number in range(8):
        create_workspace(
            agency=a.agency, name=f"Shop {number}", owner_name="Nora", owner_email=person.email, now=now(), by=SYSTEM
        )
    invited(a.agency, person.email)
    browser.get(INVITATIONS)
    with django_assert_max_num_queries(9):
        page = text(browser.get(INVITATIONS))
    assert all(f"Shop {number}" in page for number in range(8))
