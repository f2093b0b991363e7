"""The code at sign-in: asked for after the password, good once, guessed by nobody."""

import ast
import base64
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.signals import user_logged_in
from django.core import mail as outbox
from django.test import Client

from agency.models import RecoveryCode, TwoFactor, User
from agency.services.passwords import queue_password_reset_mail
from agency.services.two_factor import MOST_ATTEMPTS, MOST_ATTEMPTS_OF_ALL, count_attempt, use_code
from agency.tasks import send_mail
from config.db import database_now
from tests.agency.console.browsers import a_browser, a_member, a_person, text
from tests.agency.console.test_signing_in import SIGN_IN, _redis_away, sign_in  # noqa: F401  # a fixture among them
from tests.agency.console.two_factor_pages import CODE, RECOVERY, SECURITY, WRONG, is_in, past_the_password, send
from tests.agency.two_factor import App, an_app, code_at
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.test_templates import sources

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return a_person(name="Ada")


@pytest.fixture
def app(person: User) -> App:
    return an_app(person)


def test_a_password_alone_lets_nobody_in(person: User, app: App) -> None:
    browser = past_the_password(person)
    assert not is_in(browser)
    page = browser.get(CODE)
    assert re.search(r'<input[^>]*name="code"[^>]*autocomplete="one-time-code"', page.content.decode())
    assert b'inputmode="numeric"' in page.content
    before = browser.cookies["session"].value
    answer = send(browser, f" {app.code()[:3]} {app.code()[3:]} ")
    assert answer["Location"] == "/account/invitations"
    assert is_in(browser)
    assert browser.cookies["session"].value != before
    assert "known" in browser.cookies


def test_the_way_leads_on_to_the_page_that_was_asked_for(a: Tenant) -> None:
    member = a_member(a.agency)
    app = an_app(member.user)
    browser = a_browser()
    sign_in(browser, member.user.email, next="/console/plans")
    assert send(browser, app.code())["Location"] == "/console/plans"


FULL_WIDTH = "\uff11\uff12\uff13\uff14\uff15\uff16"


def test_wrong_used_and_malformed_codes_are_answered_alike(person: User, app: App) -> None:
    used = app.code()
    send(past_the_password(person), used)
    for path in (CODE, RECOVERY):
        browser = past_the_password(person)
        codes = (used, app.wrong_code(), "1", "x" * 40, FULL_WIDTH, app.codes[0][:-1], "0000-0000-0000-0000")
        pages = [send(browser, code, path) for code in codes]
        assert {page.status_code for page in pages} == {422}
        assert all(WRONG in text(page) for page in pages)
        assert not is_in(browser)


@pytest.mark.parametrize(("steps", "gets_in"), [(-2, False), (-1, True), (1, True), (2, False)])
def test_a_clock_may_be_a_step_off(person: User, app: App, steps: int, gets_in: bool) -> None:
    """Looked at in the middle of a step, lest the clock moves on."""
    now = datetime.fromtimestamp(int(database_now().timestamp()) // 30 * 30 + 15, UTC)
    assert use_code(user=person, code=code_at(app.secret, now + timedelta(seconds=30 * steps)), now=now) == gets_in


def test_an_earlier_code_is_worth_nothing_after_a_later_one(person: User, app: App) -> None:
    now = database_now()
    later, earlier = (code_at(app.secret, now + timedelta(seconds=seconds)) for seconds in (30, 0))
    assert use_code(user=person, code=later, now=now)
    assert not use_code(user=person, code=earlier, now=now)
    assert not use_code(user=person, code=later, now=now + timedelta(seconds=30))


def test_codes_are_those_of_rfc_6238(person: User) -> None:
    """Its appendix B, of whose eight digits the last six are shown."""
    secret = base64.b32encode(b"12345678901234567890").decode()
    TwoFactor.objects.create(user=person, secret=secret, confirmed_at=database_now())
    vectors = {
        59: "94287082",
        1111111109: "07081804",
        1111111111: "14050471",
        1234567890: "89005924",
        2000000000: "69279037",
        20000000000: "65353130",
    }
    for seconds, code in vectors.items():
        moment = datetime.fromtimestamp(seconds, UTC)
        assert code_at(secret, moment) == code[2:]
        assert use_code(user=person, code=code[2:], now=moment)


@pytest.mark.django_db(transaction=True)
def test_of_twenty_who_send_one_code_at_once_one_gets_in(person: User, app: App) -> None:
    browsers = [past_the_password(person) for _ in range(20)]
    code = app.code()
    statuses = at_once(lambda number: send(browsers[number], code).status_code, times=20)
    assert sorted(statuses) == [302] + [422] * 19


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_send_one_recovery_code_at_once_one_gets_in(person: User, app: App) -> None:
    browsers = [past_the_password(person) for _ in range(8)]
    statuses = at_once(lambda number: send(browsers[number], app.codes[3], RECOVERY).status_code, times=8)
    assert sorted(statuses) == [302] + [422] * 7
    assert RecoveryCode.objects.filter(user=person, used_at__isnull=False).count() == 1


def test_a_recovery_code_works_once_in_any_spelling_and_sends_an_email(person: User, app: App) -> None:
    browser = past_the_password(person)
    assert browser.get(RECOVERY).status_code == 200
    assert send(browser, app.codes[0].upper().replace("-", " ").replace("0", "O"), RECOVERY).status_code == 302
    assert "9 of ten recovery codes are left." in text(browser.get(SECURITY))
    assert send(past_the_password(person), app.codes[0], RECOVERY).status_code == 422
    assert send(past_the_password(person), app.codes[1]).status_code == 302  # on the other page too
    outbox.outbox.clear()
    send_mail()
    assert any("You have 8 recovery codes left." in str(mail.body) for mail in outbox.outbox)


def test_codes_are_limited_to_ten_tries_with_retry_after(person: User, app: App) -> None:
    browser = past_the_password(person)
    answers = [send(browser, app.wrong_code()) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]
    assert "Too many tries. Wait 15 minutes." in text(answers[-1])
    assert 0 < int(answers[-1]["Retry-After"]) <= 900
    assert send(browser, app.code()).status_code == 429
    assert send(browser, app.codes[0], RECOVERY).status_code == 429
    assert send(past_the_password(person), app.code()).status_code == 302


@pytest.mark.usefixtures("_redis_away")
def test_many_places_together_have_twenty_tries_even_without_redis(person: User, app: App) -> None:
    guesses = [send(past_the_password(person), app.wrong_code()).status_code for _ in range(MOST_ATTEMPTS + 1)]
    assert guesses == [422] * MOST_ATTEMPTS + [429]
    assert send(past_the_password(person), app.code()).status_code == 429
    assert count_attempt(user=person, now=database_now() + timedelta(minutes=16)) == 0


def test_and_shut_out_no_browser_that_was_in_before(person: User, app: App) -> None:
    known = past_the_password(person)
    send(known, app.codes[0], RECOVERY)
    known.post("/account/sign-out")
    while not count_attempt(user=person, now=database_now()):
        pass
    assert send(past_the_password(person), app.code()).status_code == 429
    sign_in(known, person.email)
    assert send(known, app.code()).status_code == 302


@pytest.mark.usefixtures("_redis_away")
def test_browsers_that_were_in_before_have_as_many_tries_again_even_without_redis(person: User, app: App) -> None:
    known = past_the_password(person)
    send(known, app.codes[0], RECOVERY)
    known.post("/account/sign-out")
    sign_in(known, person.email)
    TwoFactor.objects.update(attempts=MOST_ATTEMPTS_OF_ALL - 1, attempts_since=database_now())
    assert send(past_the_password(person), app.code()).status_code == 429  # and counts no further
    assert [send(known, code).status_code for code in (app.wrong_code(), app.code())] == [422, 429]


def leads_back(browser: Client, app: App) -> bool:
    answers = (browser.get(CODE), send(browser, app.code()), send(browser, app.codes[0], RECOVERY))
    return all(answer["Location"] == SIGN_IN for answer in answers) and not is_in(browser)


@pytest.mark.parametrize("change", [{"until": "2026-01-01T00:00:00+00:00"}, {"agency": 4711}, {"user": 0}])
def test_what_was_shown_before_the_code_ends_and_is_good_on_one_host(
    person: User, app: App, change: dict[str, Any]
) -> None:
    browser = past_the_password(person)
    session = browser.session
    session["pending_sign_in"] |= change
    session.save()
    assert leads_back(browser, app)


def test_nor_is_it_worth_anything_after_five_minutes_another_password_or_none(person: User, app: App) -> None:
    browser = past_the_password(person)
    until = datetime.fromisoformat(browser.session["pending_sign_in"]["until"])
    assert timedelta(minutes=4) < until - database_now() <= timedelta(minutes=5)
    person.set_password("another-battery")
    person.save()
    assert leads_back(browser, app)
    assert leads_back(a_browser(), app)


def test_signing_in_ends_whoever_was_signed_in_before(person: User, app: App) -> None:
    browser = a_browser(a_person())
    sign_in(browser, person.email)
    assert not is_in(browser)
    assert send(browser, app.code()).status_code == 302


def test_a_link_to_set_a_password_does_not_stand_in_for_it(person: User, app: App) -> None:
    queue_password_reset_mail(email=person.email)
    outbox.outbox.clear()
    send_mail()
    links = re.findall(r"http://[^/]+(/account/set\S+)", " ".join(str(mail.body) for mail in outbox.outbox))
    browser = a_browser()
    path = browser.get(links[0])["Location"]
    browser.post(path, {"new_password1": "a-new-battery-staple", "new_password2": "a-new-battery-staple"})
    assert not is_in(browser)
    assert sign_in(a_browser(), person.email, "a-new-battery-staple")["Location"] == CODE


def test_who_signs_in_while_it_is_switched_on_elsewhere_is_asked_for_a_code(person: User) -> None:
    def switch_on(**_: Any) -> None:
        an_app(person)

    browser = a_browser()
    user_logged_in.connect(switch_on)
    try:
        assert sign_in(browser, person.email)["Location"] == CODE
    finally:
        user_logged_in.disconnect(switch_on)
    assert not is_in(browser)


def test_there_is_one_door() -> None:
    """Whoever signs people in does it with `sign_in`, which asks for the code."""
    doors = []
    for source in sources():
        written = source.read_text()
        if "django.contrib.auth" not in written:
            continue
        for node in ast.walk(ast.parse(written)):
            if isinstance(node, ast.ImportFrom) and node.module == "django.contrib.auth":
                doors += [source.name for alias in node.names if alias.name == "login"]
    assert doors == ["sign_in.py"]
