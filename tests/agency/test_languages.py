"""In which language, and by which clock, people read pages and e-mails; programs are always answered in English."""

import re
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Domain, Mail, User
from agency.services import queue_mail, set_language
from agency.services.agencies import LanguageUnknown
from agency.tasks import send_mail
from tests.agency.console.browsers import PASSWORD, a_browser, a_person, at_the_console, flashes, text
from tests.factories import DomainFactory
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
SIGN_IN, PROFILE, LANGUAGE = "/account/sign-in", "/account/profile", "/console/configuration/brand/language"
GERMAN = {"Accept-Language": "de-CH,de;q=0.9,en;q=0.5"}
SUBJECTS = {"en": "Set a new password", "de": "Neues Passwort festlegen", "es": "Establecer una contraseña nueva"}
NO_KEY = 'API key missing. Send it as the "x-api-key" header or a Bearer token.'
SENTENCES = {"en": "Sign in", "de": "Anmelden", "es": "Iniciar sesión", "fr": "Se connecter", "pt-br": "Entrar"}


def language_of(answer: Any) -> str:
    found = re.search(r'<html lang="([^"]*)"', answer.content.decode())
    assert found
    assert answer["Content-Language"] == found[1]
    return found[1]


@pytest.mark.parametrize("language", SENTENCES)
def test_a_browser_s_language_is_spoken(language: str) -> None:
    answer = a_browser().get(SIGN_IN, headers={"Accept-Language": language})
    assert language_of(answer) == language
    assert SENTENCES[language] in text(answer)
    assert "Accept-Language" in answer["Vary"]


@pytest.mark.parametrize("accepted", ["ja", "", "*", "x" * 2_000])
def test_what_we_do_not_speak_is_answered_in_english(accepted: str) -> None:
    assert language_of(a_browser().get(SIGN_IN, headers={"Accept-Language": accepted})) == "en"


def test_an_agency_s_language_comes_before_the_browser_s_on_its_host_and_in_its_dashboards(a: Tenant) -> None:
    host = DomainFactory.create(agency=a.agency).host
    set_language(agency=a.agency, language="fr", by=SYSTEM)
    assert language_of(a_browser().get(SIGN_IN, headers={"host": host, **GERMAN})) == "fr"
    assert language_of(a_browser().get(SIGN_IN, headers=GERMAN)) == "de"
    assert language_of(a_browser(a.workspace.owner).get("/app/channels", headers=GERMAN)) == "fr"
    assert language_of(at_the_console(a.agency).get("/console/", headers=GERMAN)) == "fr"


def test_a_person_s_own_choice_comes_first_and_along_to_the_next_browser(a: Tenant) -> None:
    set_language(agency=a.agency, language="fr", by=SYSTEM)
    person = a_person(name="Ada", email="ada@example.com")
    browser = a_browser(person)
    chosen = {"name": "Ada", "language": "es", "time_zone": "Asia/Tokyo"}
    answer = browser.post(PROFILE, chosen, headers=GERMAN, follow=True)
    assert language_of(answer) == "es"

    elsewhere = a_browser()
    elsewhere.post(SIGN_IN, {"email": person.email, "password": PASSWORD}, headers=GERMAN)
    assert language_of(elsewhere.get(PROFILE, headers=GERMAN)) == "es"
    entry = ActivityEntry.objects.get(action="user.changed")
    assert entry.changes["language"] == ["", "es"]


def test_whoever_signs_in_next_does_not_inherit_it() -> None:
    first, second = a_person(language="es", time_zone="Asia/Tokyo"), a_person()
    browser = a_browser()
    for person in (first, second):
        browser.cookies.pop("session", None)
        browser.post(SIGN_IN, {"email": person.email, "password": PASSWORD})
    assert language_of(browser.get(PROFILE, headers=GERMAN)) == "de"


@pytest.mark.parametrize(("name", "value"), [("language", "ja"), ("time_zone", "Mars/Olympus"), ("time_zone", "../x")])
def test_a_choice_that_there_is_not_is_refused(name: str, value: str) -> None:
    person = a_person()
    assert a_browser(person).post(PROFILE, {"name": "Ada", name: value}).status_code == 422
    person.refresh_from_db()
    assert (person.language, person.time_zone) == ("", "")


def test_an_agency_chooses_its_language_in_the_console(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    assert browser.post(LANGUAGE, {"language": "de"}).status_code == 302
    a.agency.refresh_from_db()
    assert a.agency.language == "de"
    assert language_of(browser.get("/console/configuration/brand")) == "de"
    assert browser.post(LANGUAGE, {"language": "ja"}).status_code == 422
    entry = ActivityEntry.objects.get(action="agency.language_changed")
    assert entry.changes == {"language": ["", "de"]}


def test_the_service_refuses_a_language_that_there_is_not(a: Tenant) -> None:
    with pytest.raises(LanguageUnknown):
        set_language(agency=a.agency, language="ja", by=SYSTEM)


def test_programs_are_answered_in_english_whatever_they_accept(a: Tenant) -> None:
    set_language(agency=a.agency, language="de", by=SYSTEM)
    answers = [
        Client().get(path, headers=GERMAN) for path in ("/api/agency/v1/workspaces", "/api/v1/contacts", "/api/nothing")
    ]
    assert [answer.json() for answer in answers] == [
        {"message": NO_KEY},
        {"message": NO_KEY},
        {"message": "Not found."},
    ]


def test_service_errors_are_translated(a: Tenant) -> None:
    set_language(agency=a.agency, language="de", by=SYSTEM)
    browser = at_the_console(a.agency)
    answer = browser.post("/console/configuration/brand/colour", {"accent": "#12345"})
    assert "Die Farbe" in text(answer)


def test_what_refuses_a_button_is_translated(a: Tenant) -> None:
    set_language(agency=a.agency, language="de", by=SYSTEM)
    browser, page = at_the_console(a.agency), f"/console/sub-accounts/{a.workspace.uuid}"
    assert "Nichts ist ausgewählt." in text(browser.get("/console/bulk-changes/new?action=sub_accounts.suspend"))
    domain = DomainFactory.create(agency=a.agency)
    Domain.objects.update(checked_at=now())
    checked = browser.post(f"/console/configuration/domains/{domain.uuid}/check", follow=True)
    assert flashes(checked)[0].startswith("Diese Domain wurde gerade geprüft.")
    a.workspace.owner.set_password(PASSWORD)
    a.workspace.owner.save()
    assert "hat bereits ein Passwort" in flashes(browser.post(f"{page}/owner/invite", follow=True))[0]
    assert browser.post(f"{page}/suspend", {"reason": ""}).status_code == 302
    opened = browser.post(f"{page}/open", follow=True)
    assert any(said.startswith("Dieses Unterkonto ist gesperrt") for said in flashes(opened))


@pytest.mark.parametrize(("own", "agencys", "subject"), [("es", "de", "es"), ("", "de", "de"), ("", "", "en")])
def test_an_e_mail_is_in_the_language_of_who_reads_it(a: Tenant, own: str, agencys: str, subject: str) -> None:
    set_language(agency=a.agency, language=agencys, by=SYSTEM)
    user = User.objects.create_user("reader@example.com", name="Rea", language=own)
    queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, agency=a.agency, context={})
    send_mail()
    message = outbox.outbox[-1]
    assert message.subject == SUBJECTS[subject]
    assert f'lang="{subject}"' in str(message.alternatives[0][0])  # type: ignore[attr-defined]  # of EmailMultiAlternatives


@pytest.mark.parametrize(
    ("cookies", "zone"),
    [
        ({}, "UTC"),
        ({"browser-time-zone": "Asia/Tokyo"}, "GMT+9"),
        ({"browser-time-zone": "Asia/Tokyo", "time-zone": "Asia/Kolkata"}, "GMT+5:30"),
        ({"browser-time-zone": "Mars/Olympus"}, "UTC"),
        ({"browser-time-zone": "../../etc/passwd"}, "UTC"),
    ],
)
def test_times_are_by_the_viewer_s_clock(a: Tenant, cookies: dict[str, str], zone: str) -> None:
    browser = at_the_console(a.agency)
    for name, value in cookies.items():
        browser.cookies[name] = value
    page = browser.get(f"/console/sub-accounts/{a.workspace.uuid}").content.decode()
    exact = re.findall(r'data-exact="[^"]*:\d\d (\S+)"', page)
    assert exact
    assert set(exact) == {zone}
