"""Repeated requests: done once, answered alike."""

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from config.api import idempotency
from config.api.models import IdempotencyRecord
from config.api.tasks import forget_idempotency_records
from tests.api.conftest import AGENCY
from tests.api.surfaces.surfaces import Holder, SurfaceState
from tests.database.limits import limits_of_the_product

pytestmark = pytest.mark.slow

ONCE = f"{AGENCY}/once"
OTHERWISE = {"message": "This Idempotency-Key was already used with another request."}


def once(caller: Client, key: str | None, path: str = ONCE, method: str = "post", **body: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return getattr(caller, method)(path, body, content_type="application/json", headers=headers)


def a_name() -> str:
    return secrets.token_hex(8)


@pytest.mark.django_db
def test_the_same_request_gives_the_first_answer_again(agency: Client) -> None:
    name = a_name()
    first, second = (once(agency, "key", name=name) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert second["Content-Type"] == "application/json"
    assert Group.objects.filter(name=name).count() == 1


@pytest.mark.django_db
def test_the_order_of_the_bodys_keys_does_not_matter(agency: Client) -> None:
    name = a_name()
    first = once(agency, "key", name=name, note="x")
    second = once(agency, "key", note="x", name=name)
    assert first.content == second.content


@pytest.mark.django_db
def test_without_the_header_every_request_is_done(agency: Client) -> None:
    assert once(agency, None, name=a_name()).status_code == 201
    assert once(agency, None, name=a_name()).status_code == 201
    assert IdempotencyRecord.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("other", [{"name": "another"}, {"path": f"{ONCE}/again"}, {"method": "put"}, {"note": None}])
def test_the_same_key_with_another_request_is_409(agency: Client, other: dict[str, Any]) -> None:
    name = a_name()
    once(agency, "key", name=name)
    answer = once(agency, "key", **{"name": name, **other})
    assert (answer.status_code, answer.json()) == (409, OTHERWISE)


@pytest.mark.django_db
def test_another_caller_has_keys_of_its_own(agency: Client, state: SurfaceState) -> None:
    other = state.issue_key("svc_ag_", Holder(a_name()))
    first = once(agency, "key", name=a_name())
    second = once(Client(headers={"x-api-key": other}), "key", name=a_name())
    assert first.status_code == second.status_code == 201
    assert first.content != second.content


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "x" * 256, "\x00", "a\tb", "\xe9", "\x7f", "a\nb"])
def test_a_key_that_is_none_is_400(agency: Client, key: str) -> None:
    answer = agency.post(ONCE, {"name": "x"}, content_type="application/json", HTTP_IDEMPOTENCY_KEY=key)
    assert answer.status_code == 400
    assert not Group.objects.filter(name="x").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["x", "x" * 255, "a b", "~!@#$%^&*()"])
def test_printable_ascii_is_a_key(agency: Client, key: str) -> None:
    assert once(agency, key, name=a_name()).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_refused_request_is_not_remembered(agency: Client) -> None:
    assert once(agency, "key", name="x", refuse=True).status_code == 422
    assert IdempotencyRecord.objects.count() == 0
    assert once(agency, "key", name=a_name()).status_code == 201


@pytest.mark.django_db
@pytest.mark.parametrize("other", [{"name": ["no", "name"]}, {"refuse": True}, {"unknown": {"deep": [1, None]}}])
def test_a_used_key_is_409_before_the_body_is_validated(agency: Client, other: dict[str, Any]) -> None:
    name = a_name()
    once(agency, "key", name=name)
    assert once(agency, "key", **{"name": name, **other}).status_code == 409


@pytest.mark.django_db
def test_what_is_prepared_is_prepared_for_the_first_request_alone(agency: Client, state: SurfaceState) -> None:
    name = a_name()
    for _ in range(2):
        assert once(agency, "key", f"{ONCE}/prepared", name=name).status_code == 201
    assert state.prepared == [len(connection.savepoint_ids)]  # outside of the request's own transaction
    assert once(agency, "key", f"{ONCE}/prepared", name=a_name()).status_code == 409
    once(agency, None, f"{ONCE}/prepared", name=a_name())
    assert len(state.prepared) == 2


def grow_old(hours: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE api_idempotencyrecord SET created_at = now() - make_interval(hours => %s)", [hours])


@pytest.mark.django_db
def test_an_answer_is_remembered_for_24_hours(agency: Client) -> None:
    name = a_name()
    once(agency, "key", name=name)
    grow_old(23)
    assert once(agency, "key", name=name)["Idempotent-Replayed"] == "true"
    grow_old(24)
    renewed = once(agency, "key", name=a_name())
    assert renewed.status_code == 201
    assert "Idempotent-Replayed" not in renewed
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.django_db
def test_old_answers_are_forgotten_in_batches(agency: Client) -> None:
    IdempotencyRecord.objects.bulk_create(
        IdempotencyRecord(principal="p", key=str(n), fingerprint=bytes(32)) for n in range(2500)
    )
    grow_old(24)
    once(agency, "fresh", name=a_name())
    forget_idempotency_records()
    assert list(IdempotencyRecord.objects.values_list("key", flat=True)) == ["fresh"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "broken", [{"fingerprint": b"short"}, {"status": 200}, {"body": b"{}"}, {"principal": "twice", "key": "twice"}]
)
def test_the_database_holds_what_a_record_is(broken: dict[str, Any]) -> None:
    whole = {"principal": "p", "key": "k", "fingerprint": bytes(32)}
    IdempotencyRecord.objects.create(**whole | {"principal": "twice", "key": "twice"})
    with pytest.raises(IntegrityError), transaction.atomic():
        IdempotencyRecord.objects.create(**whole | broken)


def post_to(server: LiveServer, key: str, body: dict[str, Any], idempotency: str) -> requests.Response:
    headers = {"x-api-key": key, "Idempotency-Key": idempotency}
    return requests.post(f"{server.url}{ONCE}", json=body, headers=headers, timeout=60)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seconds", [0, 0.5])
def test_thirty_at_once_do_the_work_once(live_server: LiveServer, agency_key: str, seconds: float) -> None:
    body = {"name": a_name(), "seconds": seconds}
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda _: post_to(live_server, agency_key, body, "key"), range(30)))
    assert [answer.status_code for answer in answers] == [201] * 30
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotent-Replayed" in answer.headers for answer in answers) == 29
    assert Group.objects.filter(name=body["name"]).count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_whoever_waits_longer_than_a_lock_may_last_still_gets_the_first_answer(
    live_server: LiveServer, agency_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "WAITS", 30)  # a busy machine may work on the first one for long
    body = {"name": a_name(), "seconds": 3}
    with limits_of_the_product(), ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: post_to(live_server, agency_key, body, "key"), range(3)))
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_work_that_takes_too_long_makes_the_others_come_back_later(
    live_server: LiveServer, agency_key: str, holder: Holder
) -> None:
    claimed, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            IdempotencyRecord.objects.create(principal=f"test:{holder.name}", key="key", fingerprint=bytes(32))
            claimed.set()
            done.wait(60)
            transaction.set_rollback(True)
        connection.close()

    first = threading.Thread(target=hold)
    first.start()
    assert claimed.wait(60)
    with limits_of_the_product():
        answer = post_to(live_server, agency_key, {"name": a_name()}, "key")
    done.set()
    first.join()
    assert answer.status_code == 409
    assert "still being worked on" in answer.json()["message"]
    retried = post_to(live_server, agency_key, {"name": a_name()}, "key")
    assert retried.status_code == 201
