"""Setting a password by e-mail: the same answer for everybody, a link that works once and leaves no trace."""

import re
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agency.models import ActivityEntry, Mail, Member, PasswordResetRequest, User
from agency.services.passwords import answer_address_requests
from agency.tasks import send_mail
from config.logs import JSONFormatter
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, flashes, strangers_guess, text
from tests.factories import WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
RESET = "/account/password-reset"
NEW = "a-new-battery-staple"


def ask(email: str, browser: Client | None = None) -> Any:
    return (browser or a_browser()).post(RESET, {"email": email})


def the_link() -> str:
    """The path in the newest e-mail that goes out now."""
    outbox.outbox.clear()
    send_mail()
    sent = outbox.outbox[-1]
    found = re.search(r"http://testserver(/account/set-password/\S+)", str(sent.body))
    assert found
    return found[1]


def choose(browser: Client, path: str, password: str = NEW) -> Any:
    """Open the link and set a password on the page that it leads to."""
    return browser.post(browser.get(path)["Location"], {"new_password1": password, "new_password2": password})


def can_sign_in(user: User, password: str) -> bool:
    answer = a_browser().post("/account/sign-in", {"email": user.email, "password": password})
    return bool(answer.status_code == 302)


@pytest.fixture
def member(a: Tenant) -> Member:
    return a_member(a.agency)


@pytest.fixture
def link(member: Member) -> str:
    ask(member.user.email)
    return the_link()


def test_known_unknown_and_closed_accounts_are_answered_alike_and_only_the_known_get_mail(member: Member) -> None:
    closed = a_person(is_active=False)
    browsers = [a_browser() for _ in range(3)]
    emails = [member.user.email.upper(), "nobody@example.com", closed.email]
    answers = [ask(email, browser) for email, browser in zip(emails, browsers, strict=True)]
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {(302, f"{RESET}/sent")}
    assert len({text(browser.get(f"{RESET}/sent")) for browser in browsers}) == 1
    answer_address_requests()
    (mail,) = Mail.objects.filter(kind=Mail.Kind.PASSWORD_RESET)
    assert mail.user == member.user


@pytest.mark.parametrize("is_closed", [False, True])
def test_what_is_done_for_a_known_address_is_done_for_every_other(member: Member, is_closed: bool) -> None:
    known, unknown = member.user.email, a_person(is_active=False).email if is_closed else "nobody@example.com"
    ask("somebody@example.com")  # whatever is done once

    done = [statements_of(email) for email in (known, unknown)]

    assert done[0] == done[1]
    assert not Mail.objects.exists()
    answer_address_requests()
    assert [mail.user for mail in Mail.objects.all()] == [member.user]
    assert not PasswordResetRequest.objects.exists()


def statements_of(email: str) -> list[str]:
    """What the database is asked for when a link is asked for, whatever the address."""
    browser = a_browser()
    browser.get(RESET)
    with CaptureQueriesContext(connection) as captured:
        ask(email, browser)
    return [re.sub(r"'[^']*'|\d+", "?", query["sql"].replace(email, "")) for query in captured.captured_queries]


def test_the_whole_way_from_the_mail_to_the_console(member: Member, link: str) -> None:
    assert outbox.outbox[-1].subject == "Set a new password"
    browser = a_browser()
    assert choose(browser, link)["Location"] == "/console/"
    page = browser.get("/console/")
    assert page.status_code == 200
    assert flashes(page) == ["Your password is set. You are signed out everywhere else."]
    assert can_sign_in(member.user, NEW)
    assert not can_sign_in(member.user, PASSWORD)


def test_setting_a_password_is_in_the_activity_without_the_password(member: Member, link: str) -> None:
    choose(a_browser(), link)
    entry = ActivityEntry.objects.get(action="password.set")
    assert (entry.actor_label, entry.target_name, entry.agency) == (member.user.email, member.user.email, None)
    assert NEW not in str(vars(entry))


def test_the_link_s_token_leaves_the_address_and_no_page_passes_it_on(link: str) -> None:
    browser = a_browser()
    opened = browser.get(link)
    token = link.rsplit("/", 1)[1]
    assert opened.status_code == 302
    assert token not in opened["Location"]
    for answer in (opened, browser.get(opened["Location"])):
        assert answer["Referrer-Policy"] == "no-referrer"
        assert "no-store" in answer["Cache-Control"]
    assert token.encode() not in browser.get(opened["Location"]).content


def test_opening_the_link_uses_nothing_up(member: Member, link: str) -> None:
    for _ in range(5):
        a_browser().get(link)
        a_browser().head(link)
    choose(a_browser(), link)
    assert can_sign_in(member.user, NEW)


def test_a_link_works_once(member: Member, link: str) -> None:
    choose(a_browser(), link)
    again = a_browser().get(link)
    assert again.status_code == 410
    assert "This link no longer works" in text(again)


def test_of_two_browsers_on_the_same_link_the_second_comes_too_late(member: Member, link: str) -> None:
    first, second = a_browser(), a_browser()
    form = second.get(link)["Location"]
    choose(first, link)
    late = second.post(form, {"new_password1": "another-staple-1", "new_password2": "another-staple-1"})
    assert late.status_code == 410
    assert can_sign_in(member.user, NEW)


@pytest.mark.django_db(transaction=True)
def test_of_two_browsers_that_set_a_password_at_once_exactly_one_does(member: Member, link: str) -> None:
    browsers = [a_browser() for _ in range(4)]
    forms = [browser.get(link)["Location"] for browser in browsers]

    def send(number: int) -> int:
        password = f"battery-staple-{number}"
        answer = browsers[number].post(forms[number], {"new_password1": password, "new_password2": password})
        return int(answer.status_code)

    assert sorted(at_once(send, times=4)) == [302, 410, 410, 410]


def test_the_form_is_only_for_the_browser_that_opened_the_link(link: str) -> None:
    form = a_browser().get(link)["Location"]
    assert a_browser().get(form).status_code == 410


@pytest.mark.parametrize("uid", ["MQ", "!!", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "w7Y", "AA"])
def test_a_made_up_link_reads_like_a_used_one(uid: str, db: None) -> None:
    for token in ("choose", "abc-0123456789abcdef", "x"):
        answer = a_browser().get(f"/account/set-password/{uid}/{token}")
        assert answer.status_code == 410


def test_a_link_does_not_open_another_person_s_account(member: Member, link: str) -> None:
    other = a_person()
    uid, token = link.split("/")[-2:]
    ask(other.email)
    others_uid = the_link().split("/")[-2]
    assert uid != others_uid
    assert a_browser().get(f"/account/set-password/{others_uid}/{token}").status_code == 410


def test_a_password_that_is_too_weak_or_not_repeated_is_refused_and_the_link_stays(member: Member, link: str) -> None:
    browser = a_browser()
    assert choose(browser, link, "12345").status_code == 422
    form = browser.get(link)["Location"]
    page = browser.post(form, {"new_password1": NEW, "new_password2": "something else"})
    assert page.status_code == 422
    assert "The two password fields didn" in text(page)
    assert browser.post(form, {"new_password1": NEW, "new_password2": NEW}).status_code == 302


def test_rules_and_errors_stand_at_the_field_that_they_are_about(member: Member, link: str) -> None:
    browser = a_browser()
    weak, unlike = choose(browser, link, "12345"), {"new_password1": NEW, "new_password2": "something else"}
    page = weak.content.decode()
    described = re.search(r'<input[^>]*name="new_password1"[^>]*aria-describedby="([^"]*)"', page)
    assert described
    assert described[1].split() == ["id_new_password1_helptext", "id_new_password1_error"]
    assert "too short" in page.split('id="id_new_password1_error"')[1].split("</p>")[0]
    assert 'id="id_new_password2_error"' not in page
    assert not re.search(r"<p[^>]*>(?:(?!</p>).)*<ul", page, re.DOTALL)
    assert b'id="id_new_password2_error"' in browser.post(browser.get(link)["Location"], unlike).content


def test_every_session_of_the_person_ends(member: Member) -> None:
    browser = a_browser(member.user)
    assert browser.get("/console/").status_code == 200
    ask(member.user.email)
    choose(a_browser(), the_link())
    assert browser.get("/console/").status_code == 302


def test_a_new_password_opens_an_account_that_guessing_closed(member: Member, link: str) -> None:
    strangers_guess(member.user.email)
    assert not can_sign_in(member.user, PASSWORD)
    browser = a_browser()
    choose(browser, link)
    assert can_sign_in(member.user, NEW)
    strangers_guess(member.user.email)
    assert not can_sign_in(member.user, NEW)
    assert browser.post("/account/sign-in", {"email": member.user.email, "password": NEW}).status_code == 302


def test_a_customer_sets_a_password_and_is_in_the_dashboard(a: Tenant) -> None:
    WorkspaceFactory.create(agency=a.agency, owner_email="new-owner@example.com", name='Bread & "Butter"')
    path = the_link()
    sent = outbox.outbox[-1]
    assert sent.subject == "Your workspace is ready: set your password"
    assert 'Bread & "Butter"' in sent.body
    assert a.agency.name in sent.body
    browser = a_browser()
    assert choose(browser, path)["Location"] == "/app/"
    assert 'Bread & "Butter"' in text(browser.get("/app/channels"))


def test_whoever_was_signed_in_before_in_this_browser_is_not_any_more(member: Member, link: str) -> None:
    other = a_person()
    browser = a_browser(other)
    choose(browser, link)
    assert browser.get("/account/profile").content.count(other.email.encode()) == 0
    assert member.user.email in text(browser.get("/account/profile"))


def test_a_link_that_came_too_late_signs_nobody_in(member: Member, link: str) -> None:
    first, second = a_browser(), a_browser()
    form = second.get(link)["Location"]
    choose(first, link)
    second.post(form, {"new_password1": "another-staple-1", "new_password2": "another-staple-1"})
    assert second.get("/account/profile").status_code == 302


def test_one_place_has_an_account_sent_three_mails_in_a_quarter_of_an_hour_without_hearing_so(member: Member) -> None:
    browser = a_browser()
    answers = [ask(member.user.email, browser) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {302}
    answer_address_requests()
    assert Mail.objects.filter(kind=Mail.Kind.PASSWORD_RESET).count() == 3


def test_strangers_do_not_use_up_what_the_person_may_ask_for(member: Member) -> None:
    known = a_browser()
    known.post("/account/sign-in", {"email": member.user.email, "password": PASSWORD})
    asked = [ask(member.user.email) for _ in range(20)]  # each from a place of its own
    assert {answer.status_code for answer in asked} == {302}
    answer_address_requests()
    assert Mail.objects.filter(kind=Mail.Kind.PASSWORD_RESET).count() == 12
    ask(member.user.email, known)
    answer_address_requests()
    assert Mail.objects.filter(kind=Mail.Kind.PASSWORD_RESET).count() == 13


def test_one_address_may_ask_twenty_times_in_a_quarter_of_an_hour(db: None) -> None:
    browser = a_browser()
    answers = [ask(f"person-{number}@example.com", browser) for number in range(21)]
    assert [answer.status_code for answer in answers] == [302] * 20 + [429]


def test_what_is_no_address_is_refused(db: None) -> None:
    assert "Enter a valid email address." in text(ask("nonsense"))


def test_the_page_that_asks_is_there(db: None) -> None:
    assert "We send you a link" in text(a_browser().get(RESET))


def test_the_token_is_in_no_log_line(link: str, caplog: pytest.LogCaptureFixture) -> None:
    a_browser().get(link)
    lines = [JSONFormatter().format(record) for record in caplog.records]
    assert any("/account/set-password/" in line for line in lines)
    assert not any(link.rsplit("/", 1)[1] in line for line in lines)
