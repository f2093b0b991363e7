"""A session that ends while somebody types: what they typed and where they were is there again after signing in."""

import zlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import pytest
from cryptography.fernet import Fernet
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now

from agency.models import Agency, Plan, User, UserSession
from agency.pages.form_drafts import MOST_CHARACTERS, MOST_FORMS
from agency.pages.forms import new_nonce
from config.encryption import keyring
from config.redis import call_redis, circuit_breaker, client
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, flashes, hidden, text
from tests.agency.two_factor import an_app
from tests.factories import AgencyFactory, MemberFactory, WorkspaceFactory
from tests.tenants import HANDLER, Tenant, an_address
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db
NEW_PLAN = "/console/plans/new"


def typed_after_the_end(browser: Client, path: str, **words: str) -> Any:
    """Open the form, lose the session, send the form."""
    page = browser.get(path)
    sent = {"made_for": hidden(page, "made_for"), "nonce": hidden(page, "nonce"), **words}
    UserSession.objects.all().delete()
    return browser.post(path, sent)


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    call_redis(lambda redis: redis.delete("", *redis.scan_iter("kept-forms:*")))


@pytest.fixture
def _redis_away(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "unix:///nonexistent/redis.sock?db=0"
    client.cache_clear()
    circuit_breaker.close()
    yield
    client.cache_clear()
    circuit_breaker.close()


def kept_in_redis() -> str:
    """Give all that is kept of anybody's forms."""
    rows = call_redis(lambda redis: [packed for key in redis.scan_iter("kept-forms:*") for packed in redis.hvals(key)])
    return " ".join(zlib.decompress(keyring().decrypt(cast(bytes, packed))).decode() for packed in rows)


def forget_sessions(_: User) -> None:
    UserSession.objects.all().delete()


def let_them_run_out(_: User) -> None:
    UserSession.objects.update(expire_date=now() - timedelta(seconds=1))


def change_password_elsewhere(user: User) -> None:
    user.set_password(PASSWORD)
    user.save()


def sign_in(browser: Client, email: str, to: str) -> Any:
    return browser.post("/account/sign-in", {"email": email, "password": PASSWORD, "next": to})


def test_what_was_typed_is_shown_again_and_nothing_was_done(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    answer = typed_after_the_end(browser, NEW_PLAN, name="Growth", description="For those who grow", limit_contacts="7")
    assert answer["Location"] == "/account/sign-in?next=/console/plans/new&signed_out=kept"
    assert "You were signed out, and nothing was done" in text(browser.get(answer["Location"]))
    assert sign_in(browser, member.user.email, NEW_PLAN)["Location"] == NEW_PLAN
    page = browser.get(NEW_PLAN)
    assert page.status_code == 200
    assert "Check your entries" in flashes(page)[0]
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


def test_another_person_who_signs_in_does_not_see_it(a: Tenant) -> None:
    browser, other = a_browser(a_member(a.agency).user), a_member(a.agency)
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    sign_in(browser, other.user.email, NEW_PLAN)
    page = browser.get(NEW_PLAN)
    assert "Growth" not in page.content.decode()


def test_nor_does_the_person_in_another_browser(a: Tenant) -> None:
    member = a_member(a.agency)
    browser, other = a_browser(member.user), a_browser()
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    sign_in(other, member.user.email, NEW_PLAN)
    other.cookies[settings.KEPT_FORM_COOKIE_NAME] = "x" * 22
    assert "Growth" not in other.get(NEW_PLAN).content.decode()
    sign_in(browser, member.user.email, NEW_PLAN)
    assert 'value="Growth"' in browser.get(NEW_PLAN).content.decode()


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
    kept = kept_in_redis()
    assert "Growth" in kept
    assert not any(secret in kept for secret in ("hunter", "whsec", "csrf"))


@pytest.mark.parametrize("nonce", ["", "made-up", "someone's"])
def test_nothing_is_kept_of_a_form_that_is_not_ours(nonce: str, a: Tenant) -> None:
    answer = a_browser().post(NEW_PLAN, {"name": "Growth", "nonce": nonce})
    assert answer["Location"].endswith("&signed_out=not-kept")
    assert not kept_in_redis()


def test_a_form_that_is_too_long_is_not_kept_and_the_sign_in_page_says_so(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    answer = typed_after_the_end(browser, NEW_PLAN, description="x" * MOST_CHARACTERS)
    assert "your entries could not be kept" in text(browser.get(answer["Location"]))
    assert not kept_in_redis()
    refused = browser.post("/account/sign-in", {"email": "x@example.com", "password": "x", "signed_out": "not-kept"})
    assert "your entries could not be kept" in text(refused)


def test_a_long_text_of_any_script_is_kept(a: Tenant) -> None:
    member = a_member(a.agency)
    browser, long = a_browser(member.user), "学" * 20_000
    typed_after_the_end(browser, NEW_PLAN, name="Growth", description=long)
    sign_in(browser, member.user.email, NEW_PLAN)
    assert long in browser.get(NEW_PLAN).content.decode()


@pytest.mark.usefixtures("_redis_away")
def test_without_redis_the_sign_in_page_says_that_nothing_was_kept(a: Tenant) -> None:
    browser = a_browser(a_member(a.agency).user)
    answer = typed_after_the_end(browser, NEW_PLAN, name="Growth")
    assert answer["Location"].endswith("&signed_out=not-kept")


def test_a_button_says_only_that_nothing_was_done(a: Tenant) -> None:
    answer = a_browser().post(f"/console/sub-accounts/{a.workspace.uuid}/restore")
    shown = text(a_browser().get(answer["Location"]))
    assert "You were signed out, and nothing was done. Sign in and try again." in shown


def test_a_form_makes_no_session_and_a_person_has_so_many_kept_forms(a: Tenant) -> None:
    """Somebody who sends one nonce again and again fills nothing."""
    person = a_person()
    nonce = new_nonce(person.pk)
    for number in range(MOST_FORMS + 3):
        a_browser().post(NEW_PLAN, {"name": f"Growth {number}", "nonce": nonce})
        a_browser().post(NEW_PLAN, {"name": "Again", "nonce": nonce})
    assert not UserSession.objects.exists()
    key = f"kept-forms:{person.pk}"
    assert call_redis(lambda redis: redis.hlen(key)) == MOST_FORMS
    assert 0 < call_redis(lambda redis: redis.ttl(key)) <= 3600


def test_what_was_encrypted_with_a_key_that_is_gone_is_not_kept(a: Tenant, settings: Any) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    sign_in(browser, member.user.email, NEW_PLAN)
    answer = browser.get(NEW_PLAN)
    assert answer.status_code == 200
    assert "Growth" not in answer.content.decode()


def test_what_stands_in_several_tabs_is_all_kept(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    new_addon = "/console/add-ons/new"
    pages = {path: hidden(browser.get(path), "nonce") for path in (NEW_PLAN, new_addon)}
    UserSession.objects.all().delete()
    for path, nonce in pages.items():
        browser.post(path, {"name": f"Typed at {path}", "nonce": nonce})
    sign_in(browser, member.user.email, NEW_PLAN)
    for path in pages:
        assert f'value="Typed at {path}"' in browser.get(path).content.decode()


@pytest.mark.parametrize("end", [forget_sessions, let_them_run_out, change_password_elsewhere])
def test_however_the_session_has_ended(a: Tenant, end: Any) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    page = browser.get(NEW_PLAN)
    end(member.user)
    answer = browser.post(NEW_PLAN, {"nonce": hidden(page, "nonce"), "name": "Growth"})
    assert "You were signed out" in text(browser.get(answer["Location"]))
    sign_in(browser, member.user.email, NEW_PLAN)
    assert 'value="Growth"' in browser.get(NEW_PLAN).content.decode()


def test_the_code_of_two_factor_comes_between(a: Tenant) -> None:
    member = a_member(a.agency)
    app = an_app(member.user)
    browser = a_browser(member.user)
    typed_after_the_end(browser, NEW_PLAN, name="Growth")
    assert sign_in(browser, member.user.email, NEW_PLAN)["Location"] == "/account/code"
    assert browser.post("/account/code", {"code": app.code()})["Location"] == NEW_PLAN
    assert 'value="Growth"' in browser.get(NEW_PLAN).content.decode()


def test_a_role_that_needs_two_factor_since_then_keeps_it_as_well(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    nonce = hidden(browser.get(NEW_PLAN), "nonce")
    Agency.objects.filter(pk=a.agency.pk).update(two_factor_roles=["admin"])
    assert browser.post(NEW_PLAN, {"name": "Growth", "nonce": nonce}).status_code == 403
    Agency.objects.filter(pk=a.agency.pk).update(two_factor_roles=[])
    page = browser.get(NEW_PLAN)
    assert "This was not sent. Nothing has been done yet" in flashes(page)[0]
    assert 'value="Growth"' in page.content.decode()


def test_a_file_has_to_be_chosen_again(a: Tenant) -> None:
    a.workspace.owner.set_password(PASSWORD)
    a.workspace.owner.save()
    browser, address = a_browser(a.workspace.owner), "/app/contacts/imports/new"
    nonce = hidden(browser.get(address), "nonce")
    UserSession.objects.all().delete()
    browser.post(address, {"nonce": nonce, "file": SimpleUploadedFile("people.csv", b"phone\n+4930123456\n")})
    sign_in(browser, a.workspace.owner.email, address)
    assert "The file was not kept. Choose it again." in flashes(browser.get(address))


def test_the_dashboard_does_the_same(a: Tenant) -> None:
    workspace: Workspace = a.workspace
    second = WorkspaceFactory.create(agency=a.agency, owner_email=workspace.owner.email)
    workspace.owner.set_password(PASSWORD)
    workspace.owner.save()
    browser = a_browser(workspace.owner)
    browser.post("/app/switch", {"workspace": str(second.uuid)})
    answer = typed_after_the_end(browser, "/app/settings", address="1 High Street", currency="EUR")
    assert answer["Location"] == "/account/sign-in?next=/app/settings&signed_out=kept"
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
    assert not kept_in_redis()


@pytest.mark.parametrize("headers", FROM_HERE)
def test_without_session_and_token_it_is_kept_until_the_person_has_signed_in(
    a: Tenant, headers: dict[str, str]
) -> None:
    member = a_member(a.agency)
    browser = strict_browser()
    answer = with_an_old_token(browser, member.user, headers)
    assert "You were signed out, and nothing was done" in text(browser.get(answer["Location"]))
    browser.handler = HANDLER
    sign_in(browser, member.user.email, NEW_PLAN)
    assert 'value="Growth"' in browser.get(NEW_PLAN).content.decode()


def test_nor_is_one_that_was_shown_to_somebody_else(a: Tenant) -> None:
    browser, other = strict_browser(a_member(a.agency).user), a_member(a.agency).user
    assert with_an_old_token(browser, other, FROM_HERE[0]).status_code == 403
    assert "Growth" not in browser.get(NEW_PLAN).content.decode()


def test_a_page_is_the_same_again_after_signing_in_and_a_button_leads_to_its_page(a: Tenant) -> None:
    page = f"/console/sub-accounts/{a.workspace.uuid}"
    assert a_browser().get(f"{page}?x=1")["Location"] == f"/account/sign-in?next={page}%3Fx%3D1"
    assert a_browser().post(f"{page}/restore")["Location"].startswith(f"/account/sign-in?next={page}&")
