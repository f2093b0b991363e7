"""What people change about themselves."""

import pytest
from django.test import Client

from agency.models import ActivityEntry, User
from tests.agency.console.browsers import PASSWORD, a_browser, a_person, at_the_console, flashes, text
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
PROFILE, CHANGE = "/account/profile", "/account/password"
NEW = "a-new-battery-staple"


@pytest.fixture
def person() -> User:
    return a_person(name="Ada")


@pytest.fixture
def browser(person: User) -> Client:
    return a_browser(person)


def passwords(old: str = PASSWORD, new: str = NEW, again: str | None = None) -> dict[str, str]:
    return {"old_password": old, "new_password1": new, "new_password2": again or new}


@pytest.mark.parametrize("path", [PROFILE, CHANGE])
def test_strangers_are_led_to_the_sign_in_page(path: str) -> None:
    assert a_browser().get(path)["Location"] == f"/account/sign-in?next={path}"
    assert a_browser().post(path)["Location"].startswith(f"/account/sign-in?next={path}&signed_out=")


def test_the_menus_of_console_and_dashboard_lead_to_it(a: Tenant) -> None:
    for browser, home in ((at_the_console(a.agency), "/console/"), (a_browser(a.workspace.owner), "/app/channels")):
        assert f'href="{PROFILE}"' in browser.get(home).content.decode()


def test_the_page_shows_the_name_and_is_kept_by_nobody(browser: Client) -> None:
    page = browser.get(PROFILE)
    assert "no-store" in page["Cache-Control"]
    assert 'value="Ada"' in page.content.decode()


def test_the_name_is_changed(person: User, browser: Client) -> None:
    answer = browser.post(PROFILE, {"name": "  Ada Lovelace "}, follow=True)
    assert flashes(answer) == ["Your account was saved."]
    person.refresh_from_db()
    assert person.name == "Ada Lovelace"
    entry = ActivityEntry.objects.get(action="user.changed")
    assert (entry.actor_id, entry.changes) == (str(person.pk), {"name": None})


def test_a_sound_is_played_only_for_people_who_asked_for_it(a: Tenant) -> None:
    owner = a.workspace.owner
    browser = a_browser(owner)
    for chosen, is_played in (({}, False), ({"plays_sound": "on"}, True), ({}, False)):
        assert browser.post(PROFILE, {"name": owner.name, **chosen}).status_code == 302
        assert (" checked" in browser.get(PROFILE).content.decode()) == is_played
        assert ("data-sound=" in browser.get("/app/channels").content.decode()) == is_played
    assert f'href="{PROFILE}">Sound for new messages' in browser.get("/app/notifications/settings").content.decode()
    switched = ActivityEntry.objects.filter(action="user.changed").order_by("pk").values_list("changes", flat=True)
    assert [one["plays_sound"] for one in switched] == [[False, True], [True, False]]


@pytest.mark.parametrize("name", ["", " ", "x" * 121, "a\0b", "a\u202eb"])
def test_a_bad_name_is_refused(person: User, browser: Client, name: str) -> None:
    assert browser.post(PROFILE, {"name": name}).status_code == 422
    person.refresh_from_db()
    assert person.name == "Ada"


def test_the_password_is_changed_and_every_other_session_ends(person: User, browser: Client) -> None:
    elsewhere = a_browser(person)
    answer = browser.post(CHANGE, passwords(), follow=True)
    assert flashes(answer) == ["Your password was changed. You are signed out everywhere else."]
    assert browser.get(PROFILE).status_code == 200
    assert elsewhere.get(PROFILE).status_code == 302
    assert a_browser().post("/account/sign-in", {"email": person.email, "password": NEW}).status_code == 302
    assert a_browser().post("/account/sign-in", {"email": person.email, "password": PASSWORD}).status_code == 422
    assert ActivityEntry.objects.filter(action="password.changed", actor_id=str(person.pk)).count() == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (passwords(old="wrong"), "Your old password was entered incorrectly."),
        (passwords(again="another"), "The two password fields didn"),
        (passwords(new="password"), "This password is too common."),
        ({}, "This field is required."),
    ],
)
def test_a_change_that_is_refused_changes_nothing(
    person: User, browser: Client, given: dict[str, str], said: str
) -> None:
    answer = browser.post(CHANGE, given)
    assert answer.status_code == 422
    assert said in text(answer)
    assert PASSWORD not in answer.content.decode()
    person.refresh_from_db()
    assert person.check_password(PASSWORD)


def test_the_old_password_cannot_be_guessed_at_will(person: User, browser: Client) -> None:
    answers = [browser.post(CHANGE, passwords(old=f"guess {number}")) for number in range(11)]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]
    assert "Too many tries. Wait 15 minutes." in text(answers[-1])
    assert int(answers[-1]["Retry-After"]) > 800
    assert browser.post(CHANGE, passwords()).status_code == 429
    person.refresh_from_db()
    assert person.check_password(PASSWORD)
