"""Hosts that we answer for, and what each of them is answered."""

import json
from itertools import product
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agency.actors import SYSTEM
from agency.models import Domain
from agency.services.domains import remove_domain
from agency.services.hosts import agency_of_host, base_url_of, base_urls_of, cache
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, a_person, hidden
from tests.factories import DomainFactory
from tests.tenants import HANDLER, Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db

OWN = "app.ada.localhost"
OTHERS = "app.bob.localhost"
SIGN_IN = "/account/sign-in"


@pytest.fixture
def own(a: Tenant) -> Domain:
    return DomainFactory.create(agency=a.agency, host=OWN)


@pytest.fixture
def others(b: Tenant) -> Domain:
    return DomainFactory.create(agency=b.agency, host=OTHERS)


def ask(path: str, host: str, client: Client | None = None, **more: Any) -> Any:
    return ask_with(path, {"host": host}, client, **more)


def ask_with(path: str, headers: dict[str, str], client: Client | None = None, **more: Any) -> Any:
    browser = client or Client()
    browser.handler = HANDLER
    return browser.get(path, headers=headers, **more)


def test_each_agency_s_host_is_its_own_and_no_other_is_anybody_s(own: Domain, others: Domain) -> None:
    assert [agency_of_host(host) for host in (OWN, OTHERS, "app.localhost", "testserver")] == [
        own.agency_id,
        others.agency_id,
        None,
        None,
    ]


UNKNOWN = ("app.example.org", "example.com", "127.0.0.2", "[::2]", "", "x" * 300, "app.ada.localhost.example.org")
ANY_PATH = ("/", SIGN_IN, "/static/console/tokens.css", "/api/nothing", "/nothing", "/admin/")


@pytest.mark.usefixtures("own")
def test_an_unknown_host_is_answered_without_a_word_of_ours() -> None:
    for host, path in product(UNKNOWN, ANY_PATH):
        answer = ask(path, host)
        found = (answer.status_code, json.loads(answer.content))
        assert found == (404, {"message": "Not found."}), (host, path)


@pytest.mark.usefixtures("own")
def test_verified_hosts_and_the_installation_s_are_answered() -> None:
    for host in (OWN, f"{OWN}:8000", OWN.upper(), f"{OWN}.", "testserver", "other.localhost"):
        assert ask(SIGN_IN, host).status_code == 200, host


def test_a_domain_that_is_not_verified_is_like_an_unknown_one(a: Tenant, settings: Any) -> None:
    settings.HOSTS = {"testserver"}
    DomainFactory.create(agency=a.agency, host=OWN, is_verified=False)
    assert ask(SIGN_IN, OWN).status_code == 404


def test_a_removed_domain_is_answered_no_more_at_once(own: Domain, settings: Any) -> None:
    settings.HOSTS = {"testserver"}
    assert ask(SIGN_IN, OWN).status_code == 200
    remove_domain(domain=own, by=SYSTEM)
    assert ask(SIGN_IN, OWN).status_code == 404


@pytest.mark.usefixtures("own")
def test_the_admin_is_not_there_on_an_agency_s_host() -> None:
    staff = a_browser(a_person(is_staff=True, is_superuser=True))
    nowhere = ask("/nothing-here", OWN, staff)
    assert nowhere.status_code == 404
    for path in ("/admin", "/admin/", "/admin/login/", "/admin/agency/domain/", "/internal/x"):
        found = ask(path, OWN, staff)
        assert (found.status_code, strip_id(found)) == (404, strip_id(nowhere)), path
        if path.startswith("/admin"):
            assert ask(path, "testserver", staff).status_code in (200, 302), path


def strip_id(answer: Any) -> bytes:
    return bytes(answer.content).replace(answer["X-Request-Id"].encode(), b"")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_answered_under_any_name(own: Domain, path: str) -> None:
    assert {ask(path, host).status_code for host in (OWN, "testserver", "10.1.2.3")} <= {200, 503}


def test_a_host_costs_a_request_no_query(own: Domain, a: Tenant) -> None:
    ask(SIGN_IN, OWN)
    counted = []
    for host in ("testserver", OWN):
        with CaptureQueriesContext(connection) as queries:
            answer = Client().get("/api/agency/v1/plans", headers={"host": host, "x-api-key": a.plaintext})
        assert answer.status_code == 200
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_ten_thousand_hosts_are_looked_up_without_a_query(own: Domain, django_assert_num_queries: Any) -> None:
    agency_of_host(OWN)
    with django_assert_num_queries(0):
        assert {agency_of_host(f"host-{number}.example.com") for number in range(10_000)} == {None}
        assert base_url_of(own.agency_id) == f"http://{OWN}"


def test_links_begin_with_the_primary_host_else_with_the_installation_s(a: Tenant, b: Tenant, settings: Any) -> None:
    assert base_url_of(a.agency.pk) == base_url_of(None) == "http://testserver"
    first = DomainFactory.create(agency=a.agency, host="first.localhost")
    DomainFactory.create(agency=a.agency, host="second.localhost")
    assert (base_url_of(a.agency.pk), base_url_of(b.agency.pk)) == ("http://second.localhost", "http://testserver")
    remove_domain(domain=Domain.objects.get(host="second.localhost"), by=SYSTEM)
    assert base_url_of(a.agency.pk) == f"http://{first.host}"
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    assert base_url_of(a.agency.pk) == "http://first.localhost:8000"
    settings.PUBLIC_URL = "https://app.example.com:8443"
    assert base_url_of(a.agency.pk) == "https://first.localhost"
    assert base_urls_of(a.agency.pk) == [settings.PUBLIC_URL, "https://first.localhost"]


def test_https_is_promised_for_the_agency_s_host_alone(own: Domain, settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS, settings.SECURE_HSTS_PRELOAD = 60, True, True
    fresh = Client()
    ours, theirs = (fresh.get(SIGN_IN, headers={"host": host}, secure=True) for host in ("testserver", OWN))
    assert ours["Strict-Transport-Security"] == "max-age=60; includeSubDomains; preload"
    assert theirs["Strict-Transport-Security"] == "max-age=60"


def test_http_leads_to_https_on_the_same_host(own: Domain, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    answer = Client().get(f"{SIGN_IN}?next=/app/", headers={"host": OWN})
    assert (answer.status_code, answer["Location"]) == (301, f"https://{OWN}{SIGN_IN}?next=/app/")
    assert Client().get("/internal/tls-allowed").status_code == 404


IS_AWAY = """
CREATE FUNCTION is_cancelled() RETURNS boolean LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'cancelled' USING ERRCODE = 'query_canceled'; END $$;
ALTER TABLE agency_domain RENAME TO domain_that_is_gone;
CREATE VIEW agency_domain AS SELECT * FROM domain_that_is_gone WHERE is_cancelled();
"""


def asked_while_away(path: str, host: str) -> Any:
    """Ask a process that knows no hosts yet, while the database cannot be asked for them."""
    cache.drop()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(IS_AWAY)
        answer = Client(raise_request_exception=False).get(path, headers={"host": host})
        transaction.set_rollback(True)
    return answer


def test_before_anybody_could_ask_whose_host_it_is_a_page_is_nobody_s(own: Domain) -> None:
    page, called = (asked_while_away(path, OWN) for path in (SIGN_IN, "/api/agency/v1/plans"))
    known = asked_while_away("/nothing", "testserver")
    assert (page.status_code, called.status_code, known.status_code) == (503, 503, 404)
    assert b"console/mark.svg" in known.content
    assert b"console/mark.svg" not in page.content
    assert "default-src 'none'" in page["Content-Security-Policy"]
    assert (page["X-Frame-Options"], page["X-Content-Type-Options"]) == ("DENY", "nosniff")
    assert page["Referrer-Policy"] == "same-origin"
    assert (called["Cache-Control"], called["X-Content-Type-Options"]) == ("no-store", "nosniff")


def test_a_form_counts_only_from_its_own_host(own: Domain, others: Domain) -> None:
    member = a_member(own.agency, "owner")
    browser = Client(enforce_csrf_checks=True)
    page = browser.get(SIGN_IN, headers={"host": OWN})
    data = {
        "email": member.user.email,
        "password": "correct-horse-battery",
        "csrfmiddlewaretoken": hidden(page, "csrfmiddlewaretoken"),
    }
    for origin, status in ((f"http://{OTHERS}", 403), ("http://testserver", 403), (f"http://{OWN}", 302)):
        answer = browser.post(SIGN_IN, data, headers={"host": OWN, "origin": origin})
        assert answer.status_code == status, origin


def test_lists_link_to_themselves_on_the_host_that_was_asked(own: Domain, a: Tenant) -> None:
    for host in (OWN, "testserver"):
        page = Client().get("/api/agency/v1/workspaces", headers={"host": host, "x-api-key": a.plaintext}).json()
        assert page["links"]["first"].startswith(f"http://{host}/api/agency/v1/workspaces?")


@pytest.mark.usefixtures("own")
def test_links_and_documents_have_the_host_as_it_was_verified(a: Tenant, settings: Any) -> None:
    def read(path: str, named: str) -> Any:
        headers = {"host": named, "x-api-key": a.plaintext}
        return ask_with(f"/api/agency/v1/{path}", headers).json()

    names = (f"{OWN}:4443", f"{OWN}.", OWN.upper())
    for named in names:
        assert read("workspaces", named)["links"]["first"] == f"http://{OWN}/api/agency/v1/workspaces?page=1", named
        assert read("openapi.json", named)["servers"][0]["url"] == f"http://{OWN}", named
    settings.PUBLIC_URL = "http://testserver:8000"
    for named in names:
        assert read("workspaces", named)["links"]["first"].startswith(f"http://{OWN}:8000/"), named


@pytest.mark.usefixtures("own")
def test_the_documents_name_the_host_that_was_asked(settings: Any) -> None:
    settings.PUBLIC_URL = "http://testserver"
    for path in ("/api/agency/v1/openapi.json", "/api/v1/openapi.json", "/api/docs/agency"):
        theirs, ours = (ask(path, host).content.decode() for host in (OWN, "testserver"))
        assert "http://testserver" in ours, path
        assert "http://testserver" not in theirs, path
        assert f"http://{OWN}" in theirs, path


def test_the_consoles_show_where_the_api_is(own: Domain, a: Tenant) -> None:
    console = a_browser(a_member(a.agency, "owner").user).get("/console/configuration/api")
    dashboard = a_browser(a.workspace.owner).get("/app/configuration/api")
    assert f"http://{OWN}/api/agency/v1".encode() in console.content
    assert dashboard.status_code in (200, 404) or dashboard.content


ALLOWED = {
    OWN: 200,
    OWN.upper(): 200,
    f"{OWN}.": 200,
    f"x.{OWN}": 404,
    "testserver": 404,
    "": 404,
    "\0": 404,
    "waiting.localhost": 404,
}


@pytest.mark.usefixtures("own")
def test_a_certificate_is_allowed_for_a_verified_domain_alone(a: Tenant, django_assert_num_queries: Any) -> None:
    DomainFactory.create(agency=a.agency, host="waiting.localhost", is_verified=False)
    agency_of_host(OWN)
    for domain, status in ALLOWED.items():
        with django_assert_num_queries(0, info=domain):
            answer = ask("/internal/tls-allowed", "web:8000", data={"domain": domain})
        assert (answer.status_code, answer.content, answer.cookies) == (status, b"", {}), domain


def test_the_question_of_certificates_takes_one_name_and_get(own: Domain) -> None:
    assert Client().get(f"/internal/tls-allowed?domain={OWN}&domain=x.localhost").status_code == 404
    assert Client().get("/internal/tls-allowed").status_code == 404
    assert Client(enforce_csrf_checks=True).post("/internal/tls-allowed").status_code == 405
