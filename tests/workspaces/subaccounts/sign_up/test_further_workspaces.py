"""A person with a workspace adds another one from the menu, where the agency allows it."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.models import Agency, Mail
from agency.pages.forms import new_nonce
from agency.services import change_sign_up
from tests.agency.console.browsers import a_browser, a_member, a_person, text
from tests.factories import WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.subaccounts.sign_up.steps import open_sign_up, signed_in_at
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import leave_workspace, signing_up, suspend_workspace

pytestmark = pytest.mark.django_db
NEW = "/app/workspaces/new"


def ask(browser: Client, user: Any, **fields: Any) -> Any:
    data = {"business": "Second Shop", "business_type": "", "timezone": "Europe/Berlin", "nonce": new_nonce(user.pk)}
    return browser.post(NEW, {**data, **fields})


@pytest.fixture
def host(a: Tenant) -> str:
    return open_sign_up(a.agency, is_on=False, allows_further_workspaces=True)


@pytest.fixture
def customer(a: Tenant, host: str) -> Client:
    return signed_in_at(a.agency, a.workspace.owner)


def test_it_has_the_default_plan_and_no_event_and_is_open_at_once(a: Tenant, customer: Client) -> None:
    owner, before = a.workspace.owner, len(a.events)
    assert b'href="/app/workspaces/new"' in customer.get("/app/settings").content
    assert "At " + a.agency.name in text(customer.get(NEW))
    answer = ask(customer, owner)
    assert answer.status_code == 302
    assert answer["Location"] != NEW
    made = Workspace.objects.get(name="Second Shop")
    assert (made.agency, made.timezone) == (a.agency, "Europe/Berlin")
    assert made.plan == a.agency.plans.get(is_default=True)
    assert (made.owner, made.owner_pending_since, made.owner_email) == (owner, None, owner.email)
    assert len(a.events) == before
    assert not Mail.objects.filter(context__workspace="Second Shop").exists()
    page = text(customer.get("/app/settings"))
    assert "Second Shop is ready." in page
    a.agency.refresh_from_db()
    assert a.agency.sub_account_count == 2
    names = {card["name"] for card in a.api.get("/workspaces").json()["data"]}
    assert names == {a.workspace.name, "Second Shop"}


def test_where_the_agency_does_not_allow_it_there_is_no_such_page(a: Tenant, customer: Client) -> None:
    plan = a.agency.plans.get(is_default=True)
    change_sign_up(agency=a.agency, plan=plan, allows_further_workspaces=False, is_on=True, by=SYSTEM)
    assert customer.get(NEW).status_code == 404
    assert ask(customer, a.workspace.owner).status_code == 404
    assert b'href="/app/workspaces/new"' not in customer.get("/app/settings").content


def test_a_suspended_customer_does_not_begin_anew(a: Tenant, customer: Client) -> None:
    suspend_workspace(workspace=a.workspace, now=a.workspace.created_at, by=SYSTEM)
    assert customer.get(NEW).status_code == 404


def test_not_by_leaving_either(a: Tenant) -> None:
    open_sign_up(a.agency, allows_further_workspaces=True)
    owner = a.workspace.owner
    suspend_workspace(workspace=a.workspace, now=a.workspace.created_at, by=SYSTEM)
    by = Actor(kind="user", id=str(owner.pk), label=owner.email)
    leave_workspace(workspace=a.workspace, user=owner, now=now(), by=by)
    browser = signed_in_at(a.agency, owner)
    assert browser.get(NEW).status_code == 404
    assert ask(browser, owner).status_code == 404


def test_the_agency_s_limit_counts_and_reads_kindly(a: Tenant, customer: Client) -> None:
    Agency.objects.filter(pk=a.agency.pk).update(max_sub_accounts=1)
    for answer in (customer.get(NEW), ask(customer, a.workspace.owner)):
        assert answer.status_code == 403
        assert "No room for another workspace" in text(answer)
    assert Workspace.objects.count() == 1


def test_what_is_wrong_stands_at_its_field(a: Tenant, customer: Client) -> None:
    answer = ask(customer, a.workspace.owner, business="www.bad.example")
    assert answer.status_code == 422
    assert "A name must not hold a web address." in text(answer)


def test_nobody_adds_very_many(a: Tenant, customer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    statuses = [ask(customer, a.workspace.owner, business=f"Shop {number}").status_code for number in range(11)]
    assert statuses == [302] * 10 + [422]
    monkeypatch.setattr(signing_up, "MOST_WORKSPACES_OF_PERSON", 11)
    other = WorkspaceFactory.create(agency=a.agency).owner
    Workspace.objects.exclude(owner=other).update(owner=other)
    assert ask(signed_in_at(a.agency, other), other).status_code == 403


def test_on_the_installation_s_own_host_it_is_that_of_the_workspace_one_is_in(a: Tenant, host: str) -> None:
    browser = a_browser(a.workspace.owner)
    assert ask(browser, a.workspace.owner).status_code == 302
    assert Workspace.objects.get(name="Second Shop").agency == a.agency
    assert a_browser(a_person()).get(NEW).status_code == 404


def test_the_first_workspace_of_somebody_who_has_an_account_is_a_sign_up(a: Tenant, b: Tenant) -> None:
    open_sign_up(a.agency)
    person = b.workspace.owner
    browser = signed_in_at(a.agency, person)
    assert ask(browser, person).status_code == 302
    (event,) = a.events
    assert (event["event"], event["data"]["workspace"]["name"]) == ("workspace.created", "Second Shop")
    assert browser.get(NEW).status_code == 404


def test_who_has_opened_a_customer_s_dashboard_makes_none_of_their_own(a: Tenant, host: str) -> None:
    staff = a_member(a.agency, "admin").user
    WorkspaceFactory.create(agency=a.agency, owner_email=staff.email)
    browser = a_browser(staff)
    browser.post(f"/console/sub-accounts/{a.workspace.uuid}/open")
    before = Workspace.objects.count()
    for answer in (browser.get(NEW), ask(browser, staff)):
        assert (answer.status_code, answer["Location"]) == (302, "/app/")
    assert "Leave the customer's dashboard first" in text(browser.get("/app/channels"))
    assert Workspace.objects.count() == before
    with time_machine.travel(now() + timedelta(minutes=61), tick=False):
        ended = browser.get(NEW, follow=True)
    assert ended.request["PATH_INFO"] == f"/console/sub-accounts/{a.workspace.uuid}"
    assert browser.get(NEW).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_several_at_the_limit_one_is_made(a: Tenant, host: str) -> None:
    owner = a.workspace.owner
    browsers = [signed_in_at(a.agency, owner) for _ in range(4)]
    Agency.objects.filter(pk=a.agency.pk).update(max_sub_accounts=2)
    answers = at_once(lambda number: ask(browsers[number], owner), times=4)
    assert sorted(answer.status_code for answer in answers) == [302, 403, 403, 403]
    assert Workspace.objects.filter(name="Second Shop").count() == 1
