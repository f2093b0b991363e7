"""One person, several agencies: the chosen one is read anew on every page."""

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Plan, User
from agency.services import add_member, change_role, remove_member, restore_agency, suspend_agency
from tests.agency.console.browsers import a_browser, a_member, flashes, hidden, text
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(a: Tenant, b: Tenant) -> User:
    """An owner of `a` who is a viewer at `b`."""
    user = a_member(a.agency, "owner").user
    a_member(a.agency, "owner")
    add_member(agency=b.agency, email=user.email, name="", role="viewer", by=SYSTEM)
    return user


def switch(browser: Client, tenant: Tenant) -> None:
    assert browser.post("/console/switch", {"agency": str(tenant.agency.uuid)})["Location"] == "/console/"


def test_a_person_switches_between_their_agencies_and_the_choice_stays(person: User, a: Tenant, b: Tenant) -> None:
    browser = a_browser(person)
    for tenant, other in ((b, a), (a, b)):
        switch(browser, tenant)
        page = browser.get("/console/")
        assert f"Home {tenant.agency.name}" in text(page).replace("· ", "")
        assert f'value="{other.agency.uuid}"' in page.content.decode()


def test_the_role_is_the_one_at_the_chosen_agency(person: User, a: Tenant, b: Tenant) -> None:
    browser = a_browser(person)
    switch(browser, b)
    for number in range(4):
        a_member(b.agency, "owner", name=f"Boss {number}")
    refused = browser.get("/console/plans/new")
    assert refused.status_code == 403
    said = "Your role Viewer Roles that may do this Owner, Admin You can ask Boss 0 Boss 1 Boss 2 Back"
    assert said in text(refused)
    assert "Nothing was changed. Your role Viewer" in text(browser.post("/console/plans/new"))
    switch(browser, a)
    assert browser.get("/console/plans/new").status_code == 200


def test_nobody_switches_to_an_agency_of_others(a: Tenant, b: Tenant) -> None:
    browser = a_browser(a_member(a.agency).user)
    for choice in (str(b.agency.uuid), "nonsense", ""):
        browser.post("/console/switch", {"agency": choice})
        page = browser.get("/console/")
        assert flashes(page) == ["You are not in this agency's team."]
        assert a.agency.name in text(page)


def test_switching_takes_a_post_and_somebody_who_is_signed_in(person: User, a: Tenant) -> None:
    assert a_browser(person).get("/console/switch")["Location"] == "/console/"
    answer = a_browser().post("/console/switch", {"agency": str(a.agency.uuid)})
    assert answer["Location"].startswith("/account/sign-in")


def test_a_removed_person_s_next_page_is_refused(a: Tenant) -> None:
    a_member(a.agency, "owner")
    member = a_member(a.agency)
    browser = a_browser(member.user)
    assert browser.get("/console/plans").status_code == 200
    remove_member(member=member, by=SYSTEM)
    for answer in (browser.get("/console/plans"), browser.post("/console/plans/new", {"name": "Late"})):
        assert answer.status_code == 403
        assert a.agency.name not in text(answer)
    assert not Plan.objects.exists()


def test_a_removed_person_may_go_on_at_another_agency_but_is_not_moved_there(
    person: User, a: Tenant, b: Tenant
) -> None:
    browser = a_browser(person)
    switch(browser, a)
    remove_member(member=a.agency.members.get(user=person), by=SYSTEM)
    refused = browser.get("/console/")
    assert refused.status_code == 403
    assert b.agency.name in text(refused)
    switch(browser, b)
    assert browser.get("/console/").status_code == 200


def test_a_new_role_counts_from_the_next_page_on(a: Tenant) -> None:
    a_member(a.agency, "owner")
    member = a_member(a.agency, "admin")
    browser = a_browser(member.user)
    assert browser.get("/console/plans/new").status_code == 200
    change_role(member=member, role="viewer", by=SYSTEM)
    assert browser.get("/console/plans/new").status_code == 403


def test_a_suspended_agency_s_people_may_leave_for_another_and_come_back(person: User, a: Tenant, b: Tenant) -> None:
    browser = a_browser(person)
    switch(browser, a)
    suspend_agency(agency=a.agency, reason="a private remark", now=now(), by=SYSTEM)
    closed = browser.get("/console/sub-accounts")
    assert f"{a.agency.name} is suspended" in text(closed)
    assert "a private remark" not in text(closed)
    switch(browser, b)
    assert browser.get("/console/sub-accounts").status_code == 200
    switch(browser, a)
    restore_agency(agency=a.agency, by=SYSTEM)
    assert browser.get("/console/sub-accounts").status_code == 200


def test_a_form_from_before_a_switch_in_another_tab_changes_nothing(person: User, a: Tenant, b: Tenant) -> None:
    browser = a_browser(person)
    add_owner = b.agency.members.get(user=person)
    change_role(member=add_owner, role="owner", by=SYSTEM)
    switch(browser, a)
    made_for = hidden(browser.get("/console/plans/new"), "made_for")
    switch(browser, b)
    answer = browser.post("/console/plans/new", {"name": "For the other one", "made_for": made_for}, follow=True)
    assert flashes(answer) == [f"You have switched to {b.agency.name} meanwhile. Nothing was changed."]
    assert not Plan.objects.exists()


def test_signing_in_again_leads_to_the_agency_chosen_last(person: User, a: Tenant, b: Tenant) -> None:
    assert a.agency.name in text(a_browser(person).get("/console/plans"))  # the one they have been in for longest
    switch(a_browser(person), b)
    person.refresh_from_db()
    assert "Plans " + b.agency.name in text(a_browser(person).get("/console/plans")).replace("· ", "")
