"""Whether an address has an account shows nowhere: the same statements in the same order, and the same answer."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Invitation, NotificationEvent, User
from tests import furnished
from tests.agency.account_work import Work, work_of
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, text
from tests.agency.invitations import answer, join, mailed_link
from tests.agency.two_factor import an_app
from tests.factories import WorkspaceFactory
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.notifications import OwnerHasNotAccepted, send_owner_message

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
UNKNOWN, KNOWN = "nobody@example.com", "somebody@example.com"


@pytest.fixture
def known(b: Tenant) -> User:
    """Somebody who has a workspace at another agency, and a password."""
    owner: User = WorkspaceFactory.create(agency=b.agency, owner_email=KNOWN).owner
    owner.set_password(PASSWORD)
    owner.save()
    return owner


def assert_same(works: list[Work]) -> None:
    for one in works[1:]:
        assert one.statements == works[0].statements
        assert (one.seen, one.hashed) == (works[0].seen, works[0].hashed)


def with_a_password(**fields: Any) -> str:
    return str(a_person(**fields).email)


def without_a_password() -> str:
    person = a_person()
    person.set_unusable_password()
    person.save()
    return str(person.email)


def with_two_factor() -> str:
    member = a_person()
    an_app(member)
    return str(member.email)


def closed() -> str:
    return with_a_password(is_active=False)


def support_staff() -> str:
    return with_a_password(is_staff=True)


@pytest.mark.parametrize("make", [with_a_password, without_a_password, with_two_factor, closed, support_staff])
@pytest.mark.parametrize(
    ("page", "field", "status"), [("/account/sign-in", "email", 422), ("/admin/login/", "username", 200)]
)
def test_a_wrong_password_is_answered_alike_for_every_address(
    page: str, field: str, status: int, make: Callable[[], str]
) -> None:
    works = []
    for email in (UNKNOWN, make()):
        browser = a_browser()
        browser.get(page)
        form = {field: email, "password": "wrong-horse-battery"}
        works.append(work_of(partial(browser.post, page, form)))
    assert_same(works)
    assert works[0].hashed == 1
    assert works[0].answer.status_code == status


def test_the_right_password_of_a_closed_account_is_answered_like_a_wrong_one() -> None:
    works = []
    for email in (UNKNOWN, closed()):
        browser = a_browser()
        works.append(work_of(partial(sign_in, browser, email)))
    assert_same(works)


def test_an_account_is_locked_like_an_address_that_nobody_has() -> None:
    works = []
    for email in ("unknown-and-locked@example.com", with_a_password()):
        browser = a_browser()
        for _ in range(10):
            sign_in(browser, email, "wrong-horse-battery")
        works.append(work_of(partial(sign_in, browser, email)))
    assert_same(works)
    assert works[0].answer.status_code == 429


def sign_in(browser: Client, email: str, password: str = PASSWORD) -> Any:
    return browser.post("/account/sign-in", {"email": email, "password": password})


def team_page(a: Tenant) -> tuple[Client, str]:
    return a_browser(a_member(a.agency, "owner").user), "/console/team/invite"


def people_page(a: Tenant) -> tuple[Client, str]:
    return a_browser(a.workspace.owner), "/app/people/invite"


@pytest.mark.parametrize("page_of", [team_page, people_page])
def test_an_invitation_is_the_same_for_a_person_of_another_agency(
    page_of: Callable[[Tenant], tuple[Client, str]], a: Tenant, known: User
) -> None:
    browser, path = page_of(a)
    form = {"name": "Eve", "role": "viewer"}
    works = []
    for email in ("first@example.com", UNKNOWN, known.email):
        browser.get(path)
        fields = {**form, "email": email, **hidden_fields(browser, path)}
        works.append(work_of(partial(browser.post, path, fields)))
    assert_same(works[1:])
    assert works[1].answer.status_code == 302


def hidden_fields(browser: Client, path: str) -> dict[str, str]:
    page = browser.get(path).content.decode()
    return dict(re.findall(r'name="(made_for|nonce)" value="([^"]+)"', page))


def owner_of_new_one(a: Tenant, email: str) -> Work:
    body = a_new_customer(name="Made", owner={"name": "Eve", "email": email})
    return work_of(lambda: a.api.post("/workspaces", body))


def another_owner(a: Tenant, email: str) -> Work:
    path = f"/workspaces/{WorkspaceFactory.create(agency=a.agency).uuid}/owner"
    return work_of(lambda: a.api.put(path, {"name": "Eve", "email": email}))


def invited_again(a: Tenant, email: str) -> Work:
    path = f"/workspaces/{pushed(a, email).uuid}/owner/invite"
    return work_of(lambda: a.api.post(path, {}))


def at_the_console(a: Tenant, action: str, email: str, **fields: str) -> Work:
    """Do something on the console's page of a sub-account that was made for this address."""
    browser = a_browser(a_member(a.agency).user)
    page = f"/console/sub-accounts/{pushed(a, email).uuid}"
    sent = {**fields, **hidden_fields(browser, page)}
    return work_of(lambda: browser.post(f"{page}/{action}", sent))


def console_page(a: Tenant, email: str) -> Work:
    browser = a_browser(a_member(a.agency).user)
    page = f"/console/sub-accounts/{pushed(a, email).uuid}"
    browser.get(page)
    return work_of(lambda: browser.get(page))


def console_invites_again(a: Tenant, email: str) -> Work:
    return at_the_console(a, "owner/invite", email)


def console_names_another(a: Tenant, email: str) -> Work:
    browser = a_browser(a_member(a.agency).user)
    page = f"/console/sub-accounts/{WorkspaceFactory.create(agency=a.agency).uuid}/owner"
    sent = {"name": "Eve", "email": email, **hidden_fields(browser, page)}
    return work_of(lambda: browser.post(page, sent))


def pushed(a: Tenant, email: str) -> Workspace:
    made = a.api.post("/workspaces", a_new_customer(name="Made", owner={"name": "Eve", "email": email})).json()
    found: Workspace = Workspace.objects.get(uuid=made["data"]["uuid"])
    return found


@pytest.mark.parametrize(
    "do", [owner_of_new_one, another_owner, invited_again, console_page, console_invites_again, console_names_another]
)
def test_an_owner_is_asked_alike_for_every_address(do: Callable[[Tenant, str], Work], a: Tenant, known: User) -> None:
    do(a, "first@example.com")
    works = [do(a, email) for email in (UNKNOWN, known.email)]
    assert_same(works)


def test_nobody_is_written_to_who_has_not_accepted(a: Tenant, known: User) -> None:
    for email in (UNKNOWN, known.email):
        with pytest.raises(OwnerHasNotAccepted):
            send_owner_message(workspace=pushed(a, email), text="Hello", by=SYSTEM)


def test_their_agency_reads_the_same_once_they_have_come(a: Tenant, known: User) -> None:
    """One sets a first password with the link, the other signs in; the agency is told of both alike."""
    staff = a_member(a.agency)
    workspace = pushed(a, UNKNOWN)
    join(a_browser(), mailed_link())
    other = pushed(a, known.email)
    answer(a_browser(known), Invitation.objects.get(workspace_uuid=other.uuid), "accept")
    actions = []
    for one in (workspace, other):
        entries = ActivityEntry.objects.filter(workspace_uuid=one.uuid, agency=a.agency).order_by("id")
        actions.append(list(entries.values_list("action", flat=True)))
        assert "Has not accepted" not in text(a_browser(staff.user).get(f"/console/sub-accounts/{one.uuid}"))
    assert actions[0] == actions[1]
    assert NotificationEvent.objects.filter(agency=a.agency).count() == 2
