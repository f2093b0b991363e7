"""The outbox: an event is a row of the change's own transaction, or it is not at all."""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.db import connection, transaction

from agency.event_types import event_type
from agency.models import Agency, Event
from agency.services import envelope, record_event
from agency.tenants import Audience, Tenant
from config.celery import wake_up_channel
from config.redis import client
from tests.factories import AgencyFactory
from tests.waiting import PATIENCE_SECONDS, until

MOMENT = datetime(2026, 11, 20, 9, 30, 0, 250_000, tzinfo=UTC)
OWN = b"the test"


class RolledBack(Exception):
    """Ends a change before it is committed."""


def record(agency: Agency, **more: Any) -> Event:
    data = event_type("workspace.created").sample_data()
    event = record_event(tenant=Tenant(agency.pk), name="workspace.created", data=data, now=MOMENT, **more)
    assert event is not None
    return event


@transaction.atomic
def record_and_fail(agency: Agency) -> None:
    record(agency)
    raise RolledBack


def test_an_envelope_has_id_event_time_agency_and_data_in_this_order() -> None:
    identity = uuid.uuid4()
    body = envelope(id=identity, event="addon.granted", occurred_at=MOMENT, tenant=Tenant(12), data={"é": "/"})
    assert json.loads(body) == {
        "id": str(identity),
        "event": "addon.granted",
        "occurred_at": "2026-11-20T09:30:00.250000Z",
        "agency_id": 12,
        "data": {"é": "/"},
    }
    assert list(json.loads(body)) == ["id", "event", "occurred_at", "agency_id", "data"]


def test_a_workspaces_envelope_names_the_workspace_by_its_uuid_instead() -> None:
    identity = uuid.uuid4()
    body = envelope(
        id=uuid.uuid4(), event="contact.created", occurred_at=MOMENT, tenant=Tenant(12, 34, identity), data={}
    )
    assert list(json.loads(body)) == ["id", "event", "occurred_at", "workspace_id", "data"]
    assert json.loads(body)["workspace_id"] == str(identity)


def test_a_tenant_is_an_agency_or_a_workspace_by_both_of_its_names() -> None:
    assert Tenant(1).audience == Audience.AGENCY
    assert Tenant(1, 2, uuid.uuid4()).audience == Audience.WORKSPACE
    for half in ((2, None), (None, uuid.uuid4())):
        with pytest.raises(ValueError, match="workspace"):
            Tenant(1, *half)


def test_test_is_true_on_test_deliveries_and_absent_elsewhere() -> None:
    values: dict[str, Any] = {"id": uuid.uuid4(), "event": "x", "occurred_at": MOMENT, "tenant": Tenant(1), "data": {}}
    assert json.loads(envelope(**values, test=True))["test"] is True
    assert "test" not in json.loads(envelope(**values))


def test_a_time_is_written_in_utc_wherever_it_was_taken() -> None:
    elsewhere = MOMENT.astimezone(timezone(timedelta(hours=9)))
    body = envelope(id=uuid.uuid4(), event="x", occurred_at=elsewhere, tenant=Tenant(1), data={})
    assert json.loads(body)["occurred_at"] == "2026-11-20T09:30:00.250000Z"


@pytest.mark.django_db
def test_the_row_holds_the_very_bytes_that_receivers_get() -> None:
    agency = AgencyFactory.create()
    event = record(agency, workspace_uuid=uuid.uuid4())
    stored = Event.objects.get(pk=event.pk)
    body = json.loads(bytes(stored.body))
    assert (body["id"], body["agency_id"]) == (str(stored.uuid), agency.pk)
    assert stored.fanned_out_at is None
    assert str(stored) == f"workspace.created {stored.uuid}"


@pytest.mark.django_db(transaction=True)
def test_an_event_outside_a_transaction_is_a_mistake() -> None:
    agency = AgencyFactory.create()
    with pytest.raises(RuntimeError, match="transaction"):
        record(agency)
    assert not Event.objects.exists()


@contextmanager
def listening() -> Iterator[Callable[[], int]]:
    """Listen for wake-ups of the dispatcher; gives what says how many came since it was asked last."""
    with client().pubsub(ignore_subscribe_messages=True) as subscription:
        subscription.subscribe(wake_up_channel("dispatcher"))
        subscription.get_message(timeout=PATIENCE_SECONDS)  # the confirmation

        def heard() -> int:
            """Say something as well: what was said before it has come when it comes."""
            came: list[bytes] = []

            def is_whole() -> bool:
                if message := subscription.get_message(timeout=1):
                    came.append(message["data"])
                return came[-1:] == [OWN]

            client().publish(wake_up_channel("dispatcher"), OWN)
            until(is_whole, what="our own words")
            return len(came) - 1

        yield heard


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_rolled_back_leaves_no_event_and_wakes_nobody() -> None:
    agency = AgencyFactory.create()
    with listening() as heard:
        with pytest.raises(RolledBack):
            record_and_fail(agency)
        assert not Event.objects.exists()
        assert heard() == 0


@pytest.mark.django_db(transaction=True)
def test_the_wake_up_comes_once_the_change_is_committed() -> None:
    agency = AgencyFactory.create()
    with listening() as heard:
        for _ in range(3):
            with transaction.atomic():
                record(agency)
                assert heard() == 0
            assert heard() == 1
    assert connection.in_atomic_block is False
