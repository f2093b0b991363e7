"""Configuration → Webhooks: endpoints are added, edited, rotated and removed; a secret is shown once."""

import re
from typing import Any

import pytest
from django.test import Client

from agency.event_types import event_catalogue
from tests import furnished
from tests.agency.console.browsers import at_the_console, flashes, hidden, text
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from webhooks.models import Endpoint

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PAGES = "/console/webhooks"
SECRET = re.compile(r"whsec_[\w+/]{43}=")
FIELDS = {"url": "http://127.0.0.1:9009/hooks", "events": ["workspace.created"], "description": "CRM", "enabled": "on"}


@pytest.fixture
def staff(a: Tenant) -> Client:
    return at_the_console(a.agency)


def add(staff: Client, nonce: str | None = None, **fields: object) -> Any:
    nonce = nonce or hidden(staff.get(f"{PAGES}/new"), "nonce")
    return staff.post(f"{PAGES}/new", {**FIELDS, "nonce": nonce, **fields})


def test_the_secret_is_shown_on_the_answer_itself(a: Tenant, staff: Client) -> None:
    answer = add(staff)
    endpoint = Endpoint.objects.get(agency=a.agency)
    assert set(SECRET.findall(answer.content.decode())) == {endpoint.secret}
    assert "no-store" in answer["Cache-Control"]
    assert (endpoint.url, endpoint.events, endpoint.description, endpoint.enabled) == (
        FIELDS["url"],
        ["workspace.created"],
        "CRM",
        True,
    )


def test_no_other_page_shows_a_secret(a: Tenant, staff: Client) -> None:
    endpoint, delivery = an_endpoint(a), a_failed_delivery(a)
    for path in ("", f"/{endpoint.uuid}", f"/{endpoint.uuid}/edit", f"/deliveries/{delivery.uuid}"):
        assert not SECRET.search(staff.get(PAGES + path).content.decode())


def test_sending_the_form_twice_adds_one_webhook(a: Tenant, staff: Client) -> None:
    nonce = hidden(staff.get(f"{PAGES}/new"), "nonce")
    add(staff, nonce)
    again = add(staff, nonce)
    assert again.status_code == 302
    assert Endpoint.objects.filter(agency=a.agency).count() == 1


def test_a_refused_url_is_said_beside_its_field_and_the_form_can_be_sent_again(a: Tenant, staff: Client) -> None:
    nonce = hidden(staff.get(f"{PAGES}/new"), "nonce")
    refused = add(staff, nonce, url="http://10.0.0.1/")
    assert refused.status_code == 422
    assert "must be publicly reachable" in text(refused)
    assert SECRET.search(add(staff, nonce).content.decode())


def test_one_tick_stands_for_all_events(a: Tenant, staff: Client) -> None:
    add(staff, events=[], all_events="on")
    assert Endpoint.objects.get().events == [*event_catalogue(a.agency)]


def test_an_event_is_needed(staff: Client) -> None:
    assert add(staff, events=[]).status_code == 422
    assert "This field is required." in text(add(staff, events=[]))
    assert add(staff, events=["workspace.exploded"]).status_code == 422


def test_editing_changes_what_was_sent(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    fields = {"url": endpoint.url, "events": ["addon.granted"], "description": "new"}
    assert staff.post(f"{PAGES}/{endpoint.uuid}/edit", fields).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.events, endpoint.description, endpoint.enabled) == (["addon.granted"], "new", False)


def test_rotating_shows_the_new_secret_once_and_says_that_the_old_one_is_dead(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    old, path = endpoint.secret, f"{PAGES}/{endpoint.uuid}/rotate"
    asked = staff.get(path)
    assert re.findall(r'name="overlap_hours" value="(\d+)"[^>]* checked', asked.content.decode()) == ["24"]
    nonce = hidden(asked, "nonce")
    answer = staff.post(path, {"nonce": nonce, "overlap_hours": "0"})
    endpoint.refresh_from_db()
    assert SECRET.findall(answer.content.decode())[0] == endpoint.secret != old
    assert "The old secret no longer works" in text(answer)
    assert staff.post(path, {"nonce": nonce}).status_code == 302
    assert Endpoint.objects.get(pk=endpoint.pk).secret == endpoint.secret


def test_a_removed_webhook_leaves_the_list_and_keeps_its_deliveries(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    delivery = a_failed_delivery(a, endpoint)
    answer = staff.post(f"{PAGES}/{endpoint.uuid}/remove", follow=True)
    assert flashes(answer) == ["The webhook to http://127.0.0.1:9009/hooks was removed."]
    assert staff.get(f"{PAGES}/{endpoint.uuid}").status_code == 404
    assert staff.get(f"{PAGES}/deliveries/{delivery.uuid}").status_code == 200
    assert f"{PAGES}/deliveries/{delivery.uuid}" in staff.get(PAGES).content.decode()
    assert "No delivery matches" in text(staff.get(f"{PAGES}?status=success"))


def test_none_yet_differs_from_none_that_matches(a: Tenant, staff: Client) -> None:
    assert "No webhooks yet" in text(staff.get(PAGES))
    endpoint = an_endpoint(a)
    assert "No deliveries yet" in text(staff.get(PAGES))
    a_failed_delivery(a, endpoint)
    assert "No delivery matches" in text(staff.get(f"{PAGES}?status=success"))


def test_the_page_of_all_webhooks_costs_the_same_for_one_and_for_many(
    a: Tenant, staff: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        a_failed_delivery(a)
    with django_assert_max_num_queries(15):  # three of the log, whose last two days hold less than it counts
        page = staff.get(PAGES)
    assert text(page).count("http://127.0.0.1:9009/hooks") == 36  # in both lists and in the filter


def test_forms_name_events_and_texts_in_the_reader_s_language(a: Tenant, staff: Client) -> None:
    german, owner = {"Accept-Language": "de"}, dashboard_client(a.workspace)
    shown = staff.get(f"{PAGES}/new", headers=german)
    assert "Unterkonto erstellt (workspace.created)" in text(shown)
    assert "Termin gebucht (appointment.booked)" in text(owner.get("/app/webhooks/new", headers=german))
    endpoint = an_endpoint(a)
    assert ">Unterkonto erstellt</option>" in staff.get(f"{PAGES}/{endpoint.uuid}", headers=german).content.decode()
    assert "werden für die Person ausgefüllt" in text(owner.get("/app/saved-replies/new", headers=german))
    told = a.api.get("/webhooks/events", **german).json()
    assert "Sub-account created" in [one["label"] for one in told["data"]]
