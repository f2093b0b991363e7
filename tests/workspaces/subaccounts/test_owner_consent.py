"""A person of another tenant owns nothing before they accept it, and the agency learns nothing of them."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Invitation, Mail, User
from agency.services.agencies import lock_agency
from agency.services.members import erase_user
from agency.tasks import send_mail
from tests import furnished
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, flashes, text
from tests.agency.invitations import INVITATIONS, answer, invited, join, mailed_link
from tests.factories import WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Tenant, a_new_customer
from tests.waiting import wait_for_lock
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import (
    OwnerHasPassword,
    change_owner,
    create_workspace,
    replace_owner,
    resend_owner_invitation,
)

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def ada(b: Tenant) -> User:
    """Somebody who has a workspace at another agency."""
    owner: User = WorkspaceFactory.create(agency=b.agency, name="Hers", owner_email="ada@example.com").owner
    owner.name = "Stored Name"
    owner.set_password(PASSWORD)
    owner.save()
    Mail.objects.all().delete()
    return owner


def new_one(tenant: Tenant, email: str = "ada@example.com") -> Workspace:
    made = create_workspace(
        agency=tenant.agency, name="Pushed", owner_name="As sent", owner_email=email, now=now(), by=SYSTEM
    )
    found: Workspace = Workspace.objects.get(pk=made.pk)
    return found


def page_of(tenant: Tenant, workspace: Workspace, browser: Client) -> str:
    return text(browser.get(f"/console/sub-accounts/{workspace.uuid}"))


def test_a_pushed_workspace_is_nowhere_before_it_is_accepted(a: Tenant, ada: User) -> None:
    browser = a_browser(ada)
    before = browser.get("/app/channels")
    created = a.api.post("/workspaces", a_new_customer(name="Pushed", owner={"name": "Sent", "email": ada.email}))
    assert created.json()["data"]["owner"] == {"name": "Sent", "email": ada.email}
    workspace = Workspace.objects.get(name="Pushed")
    assert text(browser.get("/app/channels")) == text(before)
    assert "Pushed" not in text(browser.get("/app/choose"))
    browser.post("/app/switch", {"workspace": str(workspace.uuid)})
    assert "Hers" in text(browser.get("/app/channels"))
    assert browser.get(f"/app/leave/{workspace.uuid}").status_code == 404


def test_its_agency_reads_what_it_sent_and_nothing_else(a: Tenant, ada: User, owner: Client) -> None:
    workspace = new_one(a)
    shown = page_of(a, workspace, owner)
    assert "As sent ada@example.com Invitation pending" in shown
    for everything in (shown, text(owner.get("/console/sub-accounts")), a.api.get("/workspaces").content.decode()):
        assert "Stored Name" not in everything
        assert "Hers" not in everything


def test_the_link_leads_to_signing_in_and_the_answer_opens_the_workspace(a: Tenant, ada: User, owner: Client) -> None:
    workspace = new_one(a)
    link = mailed_link()
    assert Mail.objects.get().kind == "ownership_invitation"
    browser = a_browser()
    assert browser.get(link, follow=True).redirect_chain[-1][0].startswith("/account/sign-in?next=")
    browser.post("/account/sign-in", {"email": ada.email, "password": PASSWORD, "next": INVITATIONS})
    assert f"{a.agency.name} has set up the workspace “Pushed” for you." in text(browser.get(INVITATIONS))
    assert flashes(answer(browser, Invitation.objects.get(), "accept")) == ["You have joined Pushed."]
    assert "Pushed" in text(browser.get("/app/choose"))
    assert "Has not" not in page_of(a, workspace, owner)
    entry = ActivityEntry.objects.get(action="workspace.owner_accepted")
    assert (entry.agency, entry.workspace_uuid, entry.actor_label) == (a.agency, workspace.uuid, ada.email)


def test_accepting_moves_nobody_from_the_workspace_where_they_are(a: Tenant, ada: User) -> None:
    browser = a_browser(ada)
    browser.post("/app/switch", {"workspace": str(Workspace.objects.get(name="Hers").uuid)})
    new_one(a)
    answer(browser, Invitation.objects.get(), "accept")
    ada.refresh_from_db()
    assert "Hers" in text(a_browser(ada).get("/app/channels"))


def test_declining_leaves_it_to_the_agency_to_name_another(a: Tenant, ada: User, owner: Client) -> None:
    workspace = new_one(a)
    answer(a_browser(ada), Invitation.objects.get(), "decline")
    assert "Declined or left" in page_of(a, workspace, owner)
    entry = ActivityEntry.objects.get(action="workspace.owner_declined")
    assert (entry.workspace_uuid, entry.address) == (workspace.uuid, "")
    assert not Workspace.objects.owned_by(ada).filter(pk=workspace.pk).exists()


def test_an_owner_leaves_and_is_asked_again(a: Tenant, owner: Client) -> None:
    person, workspace = a.workspace.owner, a.workspace
    browser = a_browser(person)
    assert f"/app/leave/{workspace.uuid}" in browser.get(INVITATIONS).content.decode()
    assert f"Leave {workspace.name}?" in text(browser.get(f"/app/leave/{workspace.uuid}"))
    assert flashes(browser.post(f"/app/leave/{workspace.uuid}", follow=True)) == [f"You have left {workspace.name}."]
    assert "You own no workspace" in text(browser.get("/app/channels"))
    assert "Declined or left" in page_of(a, workspace, owner)
    resend_owner_invitation(workspace=workspace, now=now(), by=SYSTEM)
    answer(browser, Invitation.objects.get(), "accept")
    assert browser.get("/app/channels").status_code == 200


def test_the_link_of_a_second_agency_sets_a_password_and_accepts_nothing_of_the_first(a: Tenant, b: Tenant) -> None:
    """The agency that wrote an unknown address down first does not thereby have a customer."""
    owner = {"name": "Ada", "email": "ada@example.com"}
    answered = b.api.post("/workspaces", a_new_customer(name="Pushed first", owner=owner))
    pushed = Workspace.objects.get(uuid=answered.json()["data"]["uuid"])
    Mail.objects.all().delete()
    wanted = new_one(a)
    browser = a_browser()
    assert join(browser, mailed_link())["Location"] == "/app/"
    person = User.objects.get(email="ada@example.com")
    assert list(Workspace.objects.owned_by(person)) == [wanted]
    assert "Pushed first" not in text(browser.get("/app/", follow=True))
    assert "has set up the workspace “Pushed first” for you." in text(browser.get(INVITATIONS))
    answer(browser, Invitation.objects.get(workspace_uuid=pushed.uuid), "accept")
    assert Workspace.objects.owned_by(person).count() == 2


def test_an_agency_cannot_tell_who_is_known_elsewhere(a: Tenant, ada: User, owner: Client) -> None:
    pages, logs = [], []
    for email in (ada.email, "new@example.com"):
        workspace = new_one(a, email)
        resend_owner_invitation(workspace=workspace, now=now(), by=SYSTEM)
        card = a.api.get(f"/workspaces/{workspace.uuid}").content.decode()
        shown = page_of(a, workspace, owner) + card
        pages.append(shown.replace(email, "X").replace(str(workspace.uuid), "ID"))
        entries = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid).order_by("id")
        logs.append(list(entries.values_list("action", "target_kind", "details", "actor_label")))
    assert re.sub(r'"created_at":"[^"]+"', "", pages[0]) == re.sub(r'"created_at":"[^"]+"', "", pages[1])
    assert logs[0] == logs[1]


def test_an_owner_is_invited_again_until_the_password_is_set(a: Tenant, owner: Client) -> None:
    workspace = a.workspace
    Mail.objects.all().delete()
    assert "Invitation pending" in page_of(a, workspace, owner)
    done = owner.post(f"/console/sub-accounts/{workspace.uuid}/owner/invite", follow=True)
    assert flashes(done) == [f"The owner of {workspace.name} is invited again."]
    assert resend_owner_invitation(workspace=workspace, now=now(), by=SYSTEM) == workspace
    assert [mail.kind for mail in Mail.objects.all()] == ["owner_invitation"] * 2
    assert ActivityEntry.objects.filter(action="workspace.owner_invited").count() == 2
    workspace.owner.set_password(PASSWORD)
    workspace.owner.save()
    with pytest.raises(OwnerHasPassword):
        resend_owner_invitation(workspace=workspace, now=now(), by=SYSTEM)
    refused = owner.post(f"/console/sub-accounts/{workspace.uuid}/owner/invite", follow=True)
    assert flashes(refused) == ["The owner of this sub-account has set a password already."]


def test_whoever_is_asked_first_is_asked_again_whatever_they_have(a: Tenant, ada: User) -> None:
    workspace = new_one(a)
    resend_owner_invitation(workspace=workspace, now=now(), by=SYSTEM)
    assert Mail.objects.filter(kind="ownership_invitation").count() == 2
    answer(a_browser(ada), Invitation.objects.get(), "accept")
    with pytest.raises(OwnerHasPassword):
        resend_owner_invitation(workspace=workspace, now=now(), by=SYSTEM)


def test_another_owner_is_asked_or_invited_like_the_first(a: Tenant, ada: User, mailoutbox: list[Any]) -> None:
    workspace = change_owner(workspace=a.workspace, name="Ada", email=" ADA@example.com", now=now(), by=SYSTEM)
    assert (workspace.owner, workspace.owner_name, workspace.owner_email) == (ada, "Ada", "ada@example.com")
    assert workspace.owner_pending_since
    asked = Invitation.objects.get()
    workspace = change_owner(workspace=workspace, name="Fresh", email="fresh@example.com", now=now(), by=SYSTEM)
    assert workspace.owner_pending_since
    assert answer(a_browser(ada), asked, "accept").status_code == 404
    Mail.objects.filter(kind="owner_invitation").delete()
    send_mail()
    assert [mail.to for mail in mailoutbox] == [["fresh@example.com"]]  # the one that was withdrawn is not sent
    renamed = change_owner(workspace=workspace, name="Fresher", email="fresh@example.com", now=now(), by=SYSTEM)
    assert (renamed.owner_name, Mail.objects.filter(recipient="fresh@example.com").count()) == ("Fresher", 1)
    change_owner(workspace=renamed, name="Fresher", email="fresh@example.com", now=now(), by=SYSTEM)
    assert ActivityEntry.objects.filter(action="workspace.owner_replaced").count() == 3


def test_an_operator_s_replacement_ends_the_question(a: Tenant, ada: User) -> None:
    workspace = new_one(a)
    replacement = a_member(a.agency).user
    replaced = replace_owner(workspace=workspace, owner=replacement, by=SYSTEM)
    assert Workspace.objects.owned_by(replacement).get() == replaced
    assert Invitation.objects.get().status == "withdrawn"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["replace", "erase"])
def test_agencies_are_held_before_workspaces_and_people_as_everywhere(a: Tenant, b: Tenant, change: str) -> None:
    workspace, person = new_one(a), a_member(b.agency).user
    invited(a.agency, person.email)

    def go(_: int) -> None:
        if change == "erase":
            erase_user(user=person, email="gone@example.com", by=SYSTEM)
        else:
            replace_owner(workspace=workspace, owner=person, by=SYSTEM)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_agency(a.agency.pk)
            done = pool.submit(at_once, go, times=1)
            wait_for_lock()
            Workspace.objects.select_for_update(no_key=True, nowait=True).get(pk=workspace.pk)
            User.objects.select_for_update(no_key=True, nowait=True).get(pk=person.pk)
        done.result()
