"""Support signs in at the admin's own page, and guessing passwords there leads nowhere."""

from collections.abc import Callable

import pytest
from django.test import Client

from agency.models import User
from tests.admin.conftest import PASSWORD, an_address
from tests.agency.console.browsers import strangers_guess

pytestmark = pytest.mark.django_db


def test_support_signs_in_and_sees_the_index(support: Client) -> None:
    page = support.get("/admin/")
    assert page.status_code == 200
    assert b"What support can see and do" in page.content


def test_without_signing_in_every_page_leads_to_the_sign_in_page(client: Client) -> None:
    answer = client.get("/admin/agency/agency/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


def test_a_person_who_is_not_staff_cannot_sign_in(
    person: Callable[..., User], sign_in: Callable[[User], Client]
) -> None:
    assert sign_in(person()).get("/admin/").status_code == 302


def test_a_session_of_another_site_opens_nothing_here_even_for_staff(superuser: User) -> None:
    browser = Client()
    browser.force_login(superuser)
    answer = browser.get("/admin/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


def test_wrong_passwords_are_limited_for_whoever_guesses_and_shut_no_account(superuser: User) -> None:
    fields, stranger = {"username": superuser.email, "password": "wrong"}, Client(REMOTE_ADDR=an_address())
    answers = [stranger.post("/admin/login/", fields) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert stranger.post("/admin/login/", {**fields, "password": PASSWORD}).status_code == 429
    right = Client(REMOTE_ADDR=an_address()).post("/admin/login/", {**fields, "password": PASSWORD})
    assert right.status_code == 302


def test_many_places_shut_out_strangers_but_no_browser_that_was_in_before(superuser: User, support: Client) -> None:
    fields = {"username": superuser.email, "password": "wrong"}
    support.post("/admin/logout/")
    strangers_guess(superuser.email)
    assert Client(REMOTE_ADDR=an_address()).post("/admin/login/", {**fields, "password": PASSWORD}).status_code == 429
    assert support.post("/admin/login/", {**fields, "password": PASSWORD, "next": "/admin/"}).status_code == 302
    assert support.get("/admin/").status_code == 200


def test_the_password_is_changed_where_everybody_changes_theirs(support: Client, superuser: User) -> None:
    """With its limit, which strangers do not use up, and its entry in the log."""
    page = support.get("/admin/password_change/")
    assert page["Location"] == "/account/password"
    fields = {"old_password": "guess", "new_password1": "a-new-battery", "new_password2": "a-new-battery"}
    assert support.post("/admin/password_change/", {**fields, "old_password": PASSWORD}).status_code == 302
    superuser.refresh_from_db()
    assert superuser.check_password(PASSWORD)
    answers = [support.post("/account/password", fields) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]


def test_a_failed_sign_in_ends_at_the_form_although_a_console_session_is_open(superuser: User) -> None:
    browser = Client(REMOTE_ADDR=an_address())
    browser.force_login(superuser)
    answer = browser.post("/admin/login/", {"username": superuser.email, "password": "wrong"})
    assert answer.status_code == 200
    assert browser.get("/admin/").status_code == 302
    assert f"You are authenticated as {superuser.email}, but" in browser.get("/admin/login/").content.decode()


def test_pages_cannot_be_framed_and_run_no_foreign_script(support: Client) -> None:
    page = support.get("/admin/")
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert b"<script>" not in page.content
