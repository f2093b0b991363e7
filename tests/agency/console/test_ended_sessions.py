"""A session that ends while somebody types: what they typed and where they were is there again after signing in."""

from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import Plan, User, UserSession
from agency.pages.forms.kept_data import MOST_CHARACTERS, SESSION_KEY
from agency.pages.forms.nonce import new_nonce
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, flashes, hidden, text
from tests.factories import AgencyFactory, MemberFactory, WorkspaceFactory
from tests.tenants import Tenant, an_address
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db
NEW_PLAN = "/console/plans/new"


def typed_after_the_end(browser: Client, path: str, **words: str) -> Any:
    """Open the form, lose the session, send the form."""
    page = browser.get(path)
    sent = {"made_for": hidden(page, "made_for"), "nonce": hidden(page, "nonce"), **words}
    UserSession.objects.all().delete()
    return browser.post(path, sent)


def sign_in(browser: Client, email: str, to: str) -> Any:
    return browser.post("/account/sign-in", {"email": email, "password": PASSWORD, "next": to})


def test_what_was_typed_is_shown_again_and_nothing_was_done(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    answer = typed_after_the_end(browser, NEW_PLAN, name="Growth", description="For those who grow", limit_contacts="7")
    assert answer["Location"] == "/account/sign-in?next=/console/plans/new"
    assert "You were signed out. Nothing was done" in text(browser.get(answer["Location"]))
    assert sign_in(browser, member.user.email, NEW_PLAN)["Location"] == NEW_PLAN
    page = browser.get(NEW_PLAN)
    assert page.status_code == 200
    assert "look through what you typed" in flashes(page)[0]
    content = page.content.decode()
    assert 'value="Growth"' in content
    assert "For those who grow" in content
    assert 'value="7"' in content
    assert not Plan.objects.exists()
    browser.post(NEW_PLAN, {"name": "Growth", "nonce": hidden(page, "nonce")})
    assert Plan.objects.get().name == "Growth"


def test_it_is_shown_once(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    sign_in(browser, member.user.email, NEW_PLAN)
    assert "Growth" in browser.get(NEW_PLAN).content.decode()
    assert "Growth" not in browser.get(NEW_PLAN).content.decode()
    assert SESSION_KEY not in browser.session


def test_another_person_who_signs_in_does_not_see_it(a: Tenant) -> None:
    browser, other = a_browser(a_member(a.agency).user), a_member(a.agency)
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    sign_in(browser, other.user.email, NEW_PLAN)
    page = browser.get(NEW_PLAN)
    assert "Growth" not in page.content.decode()
    assert SESSION_KEY not in browser.session


def test_it_is_shown_in_the_agency_for_which_it_was_typed(a: Tenant) -> None:
    person = a_person()
    last = AgencyFactory.create(name="Zzz")
    for agency in (a.agency, last):
        MemberFactory.create(agency=agency, email=person.email)
    browser = a_browser(person)
    browser.post("/console/switch", {"agency": str(last.uuid)})
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    sign_in(browser, person.email, NEW_PLAN)
    page = browser.get(NEW_PLAN)
    assert hidden(page, "made_for") == str(last.uuid)
    assert 'value="Growth"' in page.content.decode()


def test_secrets_are_never_kept(a: Tenant) -> None:
    browser = a_browser(a_member(a.agency).user)
    words = {"password": "hunter22", "new_password1": "hunter33", "secret": "whsec_1", "name": "Growth"}
    typed_after_the_end(browser, NEW_PLAN, **words)
    kept = str(browser.session[SESSION_KEY])
    assert "Growth" in kept
    assert not any(secret in kept for secret in ("hunter", "whsec", "csrf"))


@pytest.mark.parametrize("nonce", ["", "made-up", "someone's"])
def test_nothing_is_kept_of_a_form_that_is_not_ours(nonce: str, a: Tenant) -> None:
    browser = a_browser()
    answer = browser.post(NEW_PLAN, {"name": "Growth", "nonce": nonce})
    assert answer.status_code == 302
    assert not UserSession.objects.exists()


def test_nor_of_one_that_is_very_long(a: Tenant) -> None:
    browser = a_browser()
    browser.post(NEW_PLAN, {"description": "x" * MOST_CHARACTERS, "nonce": new_nonce(a_person().pk)})
    assert not UserSession.objects.exists()


def test_form_data_that_nobody_fetches_end_with_their_session(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    hours = (UserSession.objects.get().expire_date - now()).total_seconds() / 3600
    assert hours <= 1
    sign_in(browser, member.user.email, NEW_PLAN)
    browser.get(NEW_PLAN)
    assert (UserSession.objects.get().expire_date - now()).days > 10


def test_the_dashboard_does_the_same(a: Tenant) -> None:
    workspace: Workspace = a.workspace
    second = WorkspaceFactory.create(agency=a.agency, owner_email=workspace.owner.email)
    workspace.owner.set_password(PASSWORD)
    workspace.owner.save()
    browser = a_browser(workspace.owner)
    browser.post("/app/switch", {"workspace": str(second.uuid)})
    answer = typed_after_the_end(browser, "/app/settings", address="1 High Street", currency="EUR")
    assert answer["Location"] == "/account/sign-in?next=/app/settings"
    sign_in(browser, workspace.owner.email, "/app/settings")
    page = browser.get("/app/settings")
    assert hidden(page, "made_for") == str(second.uuid)
    assert "1 High Street" in page.content.decode()
    second.refresh_from_db()
    assert second.address == ""


OLD_TOKEN = "o" * 64
FROM_HERE = ({"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://testserver"})
FROM_ELSEWHERE: tuple[dict[str, str], ...] = (
    {},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.example"},
)


def strict_browser(user: User | None = None) -> Client:
    """A browser with which the CSRF check is as in production."""
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())
    if user:
        browser.force_login(user)
    return browser


def with_an_old_token(browser: Client, user: User, headers: dict[str, str]) -> Any:
    sent = {"name": "Growth", "nonce": new_nonce(user.pk), "csrfmiddlewaretoken": OLD_TOKEN}
    return browser.post(NEW_PLAN, sent, headers=headers)


@pytest.mark.parametrize("headers", FROM_HERE)
def test_a_form_from_before_a_new_sign_in_is_shown_again(a: Tenant, headers: dict[str, str]) -> None:
    user = a_member(a.agency).user
    browser = strict_browser(user)
    assert with_an_old_token(browser, user, headers)["Location"] == NEW_PLAN
    assert 'value="Growth"' in browser.get(NEW_PLAN).content.decode()
    assert not Plan.objects.exists()


@pytest.mark.parametrize("headers", FROM_ELSEWHERE)
def test_but_a_form_of_another_site_is_not_and_ends_no_session(a: Tenant, headers: dict[str, str]) -> None:
    user = a_member(a.agency).user
    for browser in (strict_browser(user), strict_browser()):
        answer = with_an_old_token(browser, user, headers)
        assert answer.status_code == 403
        assert not answer.cookies
    assert not any(SESSION_KEY in session.get_decoded() for session in UserSession.objects.all())


def test_nor_is_one_that_was_shown_to_somebody_else(a: Tenant) -> None:
    browser, other = strict_browser(a_member(a.agency).user), a_member(a.agency).user
    assert with_an_old_token(browser, other, FROM_HERE[0]).status_code == 403
    assert "Growth" not in browser.get(NEW_PLAN).content.decode()


def test_a_page_is_the_same_again_after_signing_in_and_a_button_leads_to_its_page(a: Tenant) -> None:
    page = f"/console/sub-accounts/{a.workspace.uuid}"
    assert a_browser().get(f"{page}?x=1")["Location"] == f"/account/sign-in?next={page}%3Fx%3D1"
    assert a_browser().post(f"{page}/restore")["Location"] == f"/account/sign-in?next={page}"
