"""Signing in and out: one answer for everything that is wrong, guessing leads nowhere, sessions end."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from agency.models import Member
from config import redis
from tests import furnished
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, flashes, strangers_guess, text
from tests.factories import WorkspaceFactory
from tests.tenants import Tenant

a = furnished.a_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
SIGN_IN = "/account/sign-in"


@pytest.fixture
def member(a: Tenant) -> Member:
    return a_member(a.agency)


@pytest.fixture
def _redis_away(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    redis.client.cache_clear()
    redis.circuit_breaker.close()
    yield
    redis.client().close()
    redis.client.cache_clear()
    redis.circuit_breaker.close()


def sign_in(browser: Client, email: str, password: str = PASSWORD, **more: str) -> Any:
    return browser.post(SIGN_IN, {"email": email, "password": password, **more})


def test_a_member_signs_in_and_arrives_at_the_page_asked_for(member: Member) -> None:
    browser = a_browser()
    page = browser.get("/console/plans", follow=True)
    assert page.redirect_chain == [("/account/sign-in?next=/console/plans", 302)]
    answer = sign_in(browser, f"  {member.user.email.upper()} ", next="/console/plans")
    assert answer["Location"] == "/console/plans"
    assert browser.get("/console/plans").status_code == 200


def test_who_asks_for_no_page_arrives_where_they_belong(a: Tenant, member: Member) -> None:
    both = a_member(a.agency)
    WorkspaceFactory.create(agency=a.agency, owner_email=both.user.email)
    customer, support = a_person(), a_person(is_staff=True)
    WorkspaceFactory.create(agency=a.agency, owner_email=customer.email)
    people = [(member.user, "/console/"), (both.user, "/console/"), (customer, "/app/"), (support, "/admin/")]
    for person, home in people:
        browser = a_browser()
        assert browser.get("/")["Location"] == SIGN_IN
        assert sign_in(browser, person.email)["Location"] == home
        assert browser.get("/", follow=True).redirect_chain[1] == (home, 302)


def test_the_session_s_id_changes_when_somebody_signs_in(member: Member) -> None:
    browser = a_browser()
    session = browser.session
    session["fixed"] = "by a stranger"
    session.save()
    before = session.session_key or ""
    browser.cookies["session"] = before
    sign_in(browser, member.user.email)
    assert browser.cookies["session"].value != before
    assert a_browser_with(before).get("/console/").status_code == 302


def a_browser_with(session: str | None) -> Client:
    browser = a_browser()
    browser.cookies["session"] = session or ""
    return browser


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "http:evil.example",
        "/\t/evil.example",
        "evil",
        "http://testserver/console/plans",
    ],
)
def test_next_leads_only_to_our_own_pages(elsewhere: str, member: Member) -> None:
    assert sign_in(a_browser(), member.user.email, next=elsewhere)["Location"] == "/console/"


def test_whoever_is_signed_in_need_not_sign_in_again(member: Member) -> None:
    assert a_browser(member.user).get(f"{SIGN_IN}?next=/console/team")["Location"] == "/console/team"


def test_a_wrong_password_an_unknown_address_and_a_closed_account_read_alike(member: Member) -> None:
    closed = a_person(is_active=False)
    tries = [(member.user.email, "wrong"), ("nobody@example.com", PASSWORD), (closed.email, PASSWORD)]
    pages = [sign_in(a_browser(), *attempt) for attempt in tries]
    assert {page.status_code for page in pages} == {422}
    assert len({text(page) for page in pages}) == 1
    assert "The e-mail address or the password is wrong." in text(pages[0])


def test_an_empty_form_says_what_is_missing_and_keeps_where_to_go() -> None:
    page = a_browser().post(SIGN_IN, {"next": "/console/team"})
    assert page.status_code == 422
    assert "E-mail: This field is required." in text(page)
    assert b'name="next" value="/console/team"' in page.content


def test_after_ten_tries_one_place_is_done_with_an_account_known_or_not(member: Member) -> None:
    for email in (member.user.email, "stranger@example.com"):
        browser = a_browser()
        answers = [sign_in(browser, email, "wrong") for _ in range(11)]
        assert [answer.status_code for answer in answers] == [422] * 10 + [429]
        assert "Too many tries. Wait 15 minutes, or set a new password." in text(answers[-1])
        assert 0 < int(answers[-1]["Retry-After"]) <= 900
        assert sign_in(browser, email).status_code == 429
        assert sign_in(browser, a_person().email).status_code == 302  # its tries at another account are left


def test_one_place_shuts_nobody_out(member: Member) -> None:
    stranger = a_browser()
    answers = {sign_in(stranger, member.user.email, "wrong").status_code for _ in range(40)}
    assert answers == {422, 429}
    assert sign_in(a_browser(), member.user.email).status_code == 302


def test_many_places_shut_out_strangers_but_no_browser_that_was_in_before(member: Member) -> None:
    known = a_browser()
    sign_in(known, member.user.email)
    known.post("/account/sign-out")
    assert sign_in(a_browser(), member.user.email, "wrong").status_code == 422
    strangers_guess(member.user.email)
    assert sign_in(a_browser(), member.user.email).status_code == 429
    assert sign_in(known, member.user.email).status_code == 302


def test_a_known_browser_guesses_ten_times_too(member: Member) -> None:
    known = a_browser()
    sign_in(known, member.user.email)
    known.post("/account/sign-out")
    answers = [sign_in(known, member.user.email, "wrong") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]


def test_a_browser_is_known_for_the_accounts_that_signed_in_with_it_and_for_no_other(member: Member) -> None:
    other, known = a_person(), a_browser()
    strangers_guess(other.email)
    sign_in(known, member.user.email)
    known.post("/account/sign-out")
    assert sign_in(known, other.email).status_code == 429
    cookie = known.cookies["known"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 400 * 24 * 3600)
    for forged in (cookie.value[:-1] + "x", "nonsense", ""):
        browser = a_browser()
        browser.cookies["known"] = forged
        assert sign_in(browser, other.email).status_code == 429


def test_the_right_password_gives_an_account_its_tries_back(member: Member) -> None:
    browser = a_browser()
    for _ in range(9):
        sign_in(browser, member.user.email, "wrong")
    assert sign_in(browser, member.user.email).status_code == 302
    stranger = a_browser()
    stranger.defaults["REMOTE_ADDR"] = browser.defaults["REMOTE_ADDR"]
    answers = [sign_in(stranger, member.user.email, "wrong").status_code for _ in range(10)]
    assert answers == [422] * 10


def test_one_address_has_a_hundred_tries_and_then_closes_no_account_any_more(member: Member) -> None:
    browser = a_browser()
    answers = [sign_in(browser, f"guessed-{number}@example.com", "wrong") for number in range(100)]
    assert {answer.status_code for answer in answers} == {422}
    assert {sign_in(browser, member.user.email, "wrong").status_code for _ in range(11)} == {429}
    assert sign_in(a_browser(), member.user.email).status_code == 302


@pytest.mark.usefixtures("_redis_away")
def test_without_redis_people_still_get_in(member: Member) -> None:
    for _ in range(11):
        assert sign_in(a_browser(), member.user.email, "wrong").status_code == 422
    assert sign_in(a_browser(), member.user.email).status_code == 302


def test_signing_out_ends_the_session_on_the_server(member: Member) -> None:
    browser = a_browser(member.user)
    session = browser.cookies["session"].value
    answer = browser.post("/account/sign-out")
    assert answer["Location"] == SIGN_IN
    assert flashes(browser.get(SIGN_IN)) == ["You are signed out."]
    assert a_browser_with(session).get("/console/").status_code == 302


def test_signing_out_takes_a_post(member: Member) -> None:
    browser = a_browser(member.user)
    assert browser.get("/account/sign-out")["Location"] == "/account/sign-in"
    assert browser.get("/console/").status_code == 200


def test_a_closed_account_s_session_opens_nothing(member: Member) -> None:
    browser = a_browser(member.user)
    member.user.is_active = False
    member.user.save()
    assert browser.get("/console/").status_code == 302
