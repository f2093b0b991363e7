"""`Idempotency-Key` on `POST /workspaces`: one creation, however often it is asked for."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event, Mail
from agency.services import archive_item, change_agency
from config.api.models import IdempotencyRecord
from tests.database.traces import traces
from tests.factories import an_agency_key
from tests.parallel import at_once
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace


def post(tenant: Tenant, body: Any, key: str = "order-1") -> Any:
    return tenant.api.post("/workspaces", body, idempotency_key=key)


def test_the_same_key_and_body_give_the_first_answer_again_with_its_status(a: Tenant) -> None:
    body = a_new_customer()
    first, again = post(a, body), post(a, body)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert Workspace.objects.of(a.agency).count() == 1
    assert a.event_names() == ["workspace.created"]


def test_the_order_of_the_body_s_fields_does_not_matter(a: Tenant) -> None:
    body = a_new_customer(timezone="UTC")
    assert post(a, body).content == post(a, dict(reversed(body.items()))).content


def test_a_replay_is_the_first_answer_even_after_the_sub_account_has_changed(a: Tenant) -> None:
    body = a_new_customer(plan=str(a.plan.uuid))
    first = post(a, body)
    uuid = first.json()["data"]["uuid"]
    a.api.patch(f"/workspaces/{uuid}", {"name": "Renamed"})
    archive_item(item=a.plan, now=now(), by=SYSTEM)
    assert post(a, body).content == first.content


def test_the_same_key_with_another_body_is_409_and_does_nothing(a: Tenant) -> None:
    post(a, a_new_customer())
    before = traces()
    refused = post(a, a_new_customer(name="Another"))
    assert (refused.status_code, list(refused.json())) == (409, ["message"])
    assert traces() == before


def test_another_key_is_another_creation(a: Tenant) -> None:
    body = a_new_customer()
    assert post(a, body, "one").json() != post(a, body, "two").json()


def test_without_a_key_nothing_is_remembered(a: Tenant) -> None:
    a.api.post("/workspaces", a_new_customer())
    assert not IdempotencyRecord.objects.exists()


def test_the_key_is_the_agency_s_whichever_api_key_sends_it(a: Tenant) -> None:
    body = a_new_customer()
    first = post(a, body)
    _, second_key = an_agency_key(a.agency, name="Second")
    again = a.api.with_key(second_key).post("/workspaces", body, idempotency_key="order-1")
    assert again.content == first.content


def test_another_agency_may_use_the_same_key(a: Tenant, b: Tenant) -> None:
    body = a_new_customer()
    first, other = post(a, body), post(b, body)
    assert other.status_code == 201
    assert first.json()["data"]["uuid"] != other.json()["data"]["uuid"]
    assert post(b, a_new_customer()).status_code == 409


def test_a_refusal_is_not_remembered(a: Tenant) -> None:
    """Fields, plan and limit refuse; the same key then works for the body that is right."""
    change_agency(agency=a.agency, name=a.agency.name, max_sub_accounts=0, by=SYSTEM)
    assert post(a, a_new_customer(name="")).status_code == 422
    assert post(a, a_new_customer(plan="8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")).status_code == 404
    assert post(a, a_new_customer()).status_code == 403
    assert not IdempotencyRecord.objects.exists()
    change_agency(agency=a.agency, name=a.agency.name, max_sub_accounts=1, by=SYSTEM)
    assert post(a, a_new_customer()).status_code == 201


def test_after_24_hours_the_key_is_free_again(a: Tenant) -> None:
    body = a_new_customer()
    first = post(a, body)
    IdempotencyRecord.objects.update(created_at=now() - timedelta(hours=24, seconds=1))
    assert post(a, a_new_customer()).status_code == 201
    IdempotencyRecord.objects.update(created_at=now() - timedelta(hours=23, minutes=59))
    assert post(a, body).status_code == 409
    assert first.status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "a\0b", "a\x7fb", "\xe9"])
def test_a_key_that_is_no_key_is_400_and_does_nothing(a: Tenant, key: str) -> None:
    before = traces()
    response = post(a, a_new_customer(), key)
    assert (response.status_code, list(response.json())) == (400, ["message"])
    assert traces() == before


@pytest.mark.parametrize("key", ["x", "x" * 255, "order 1/2; ~"])
def test_a_key_has_1_to_255_printable_characters(a: Tenant, key: str) -> None:
    body = a_new_customer()
    assert post(a, body, key).content == post(a, body, key).content


@pytest.mark.django_db(transaction=True)
def test_thirty_parallel_equal_requests_make_one_sub_account_with_one_event(a: Tenant) -> None:
    body = a_new_customer()
    answers = at_once(lambda _: post(a, body), times=30)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert Workspace.objects.of(a.agency).count() == 1
    assert Event.objects.filter(agency=a.agency).count() == 1
    assert Mail.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_parallel_bodies_under_one_key_are_one_creation_and_409s(a: Tenant) -> None:
    bodies = [a_new_customer(name="One"), a_new_customer(name="Two")]
    answers = at_once(lambda number: post(a, bodies[number % 2]).status_code, times=10)
    assert sorted(answers) == [201] * 5 + [409] * 5
    assert Workspace.objects.of(a.agency).count() == 1
