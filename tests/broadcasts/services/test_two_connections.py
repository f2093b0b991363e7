"""Two connections prepare one broadcast at the same time, each a chunk, and come to what one comes to."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.counts import counts_of
from broadcasts.services.moving import cancel_broadcast
from broadcasts.services.preparation import prepare_chunk
from broadcasts.services.progress import begin_due_broadcasts, run_preparation
from tests.broadcasts.services.making import (
    a_contact,
    an_identity,
    begun,
    check_counts,
    many_contacts,
    recipients,
    scheduled,
    templated,
    work,
)
from tests.sizes import size
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from webhooks.services.endpoints import register_endpoint
from workspaces.contacts.models import Contact
from workspaces.subaccounts.services import tenant_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
SIZE = 3
ZONES = (None, "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Nowhere/At_all")
COMPARED = ("contact_id", "due_at", "stage", "status", "address_kind", "address", "timezone", "skip_reason", "values")
INSERT = """
INSERT INTO broadcasts_recipient (broadcast_id, contact_id, due_at, stage, tries, status, created_at)
VALUES (%s, %s, now(), 0, 0, 'pending', now())
"""


def in_thread(pool: ThreadPoolExecutor, work_on: Callable[[], Any]) -> Future[Any]:
    def run() -> Any:
        try:
            return work_on()
        finally:
            connection.close()

    return pool.submit(run)


def prepare(broadcast: Broadcast) -> Callable[[], bool]:
    return lambda: prepare_chunk(broadcast.pk, now=now(), size=SIZE)


@contextmanager
def both_at_work(broadcast: Broadcast, first: Contact) -> Iterator[tuple[Future[Any], Future[Any]]]:
    """Two chunks, of which the first waits until the block ends, and the second for the first."""
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(INSERT, [broadcast.pk, first.pk])
            one = in_thread(pool, prepare(broadcast))
            wait_for_lock("transactionid")
            other = in_thread(pool, prepare(broadcast))
            wait_for_lock("advisory")
            yield one, other
            transaction.set_rollback(True)
        for done in (one, other):
            done.exception()


def sending(a: Tenant, **values: Any) -> Broadcast:
    broadcast = scheduled(a, **values)
    begin_due_broadcasts(now=now())
    return broadcast


def a_mixed_audience(a: Tenant, seed: int) -> None:
    """People of several zones, who opted out or cannot be reached, some of whom have the number of another one."""
    chosen = random.Random(seed)
    numbers = chosen.sample(range(40), 40)
    for number in range(40):
        has_phone = chosen.random() < 0.7
        opted_out_at = now() if chosen.random() < 0.1 else None
        phone = f"+49151{number:04}" if has_phone else None
        person = a_contact(a, phone, timezone=chosen.choice(ZONES), marketing_opted_out_at=opted_out_at)
        if not has_phone and chosen.random() < 0.8:
            an_identity(person, a.channel, f"49151{numbers.pop():04}")


def outcome(broadcast: Broadcast) -> dict[str, Any]:
    broadcast.refresh_from_db()
    return {
        "rows": list(Recipient.objects.of(broadcast).order_by("contact_id").values_list(*COMPARED)),
        "counts": counts_of([broadcast])[broadcast.pk],
        "waves": list(broadcast.waves.order_by("due_at").values_list("due_at", "timezones", "total")),
        "broadcast": (broadcast.is_prepared, broadcast.recipients_count, broadcast.next_due_at),
    }


@pytest.mark.parametrize("seed", range(size("counts", "seeds of two connections")))
def test_two_connections_come_to_what_one_comes_to(a: Tenant, seed: int) -> None:
    topics = ["broadcast.recipient_skipped"]
    register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/hooks", events=topics, by=SYSTEM)
    a_mixed_audience(a, seed)
    values = {
        "message": templated(a),
        "timezone_mode": "contact",
        "scheduled_local_at": "2030-01-01 09:00:00",
        "scheduled_at": now(),
    }
    alone = begun(a, chunk=SIZE, **values)
    told = Event.objects.filter(name__in=topics)
    of_one = told.count()
    together = sending(a, **values)
    with ThreadPoolExecutor(2) as pool:
        for done in [in_thread(pool, partial(work, SIZE)) for _ in range(2)]:
            done.result()
    work(SIZE)
    assert outcome(together) == outcome(alone)
    assert any(row.skip_reason == "duplicate_address" for row in recipients(alone).values())
    assert told.count() == 2 * of_one
    check_counts(together)


def test_a_chunk_is_prepared_while_the_one_before_it_is_and_no_third_one_is_begun(a: Tenant) -> None:
    many_contacts(a, 10)
    broadcast = sending(a, message=templated(a))
    people = list(Contact.objects.order_by("pk"))
    with both_at_work(broadcast, people[0]) as (one, other):
        assert not prepare_chunk(broadcast.pk, now=now(), size=SIZE)
    assert (one.result(), other.result()) == (True, True)
    assert list(recipients(broadcast)) == [person.pk for person in people[: 2 * SIZE]]
    work(SIZE)
    assert len(recipients(broadcast)) == 10
    check_counts(broadcast)


def test_a_small_broadcast_is_the_first_one_s_alone(a: Tenant) -> None:
    many_contacts(a, SIZE)
    broadcast = sending(a, message=templated(a))
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        assert prepare_chunk(broadcast.pk, now=now(), size=SIZE)
        assert not in_thread(pool, prepare(broadcast)).result()
    assert len(recipients(broadcast)) == SIZE


def test_who_is_older_has_the_address_though_a_later_chunk_came_to_it_first(a: Tenant) -> None:
    """The later one gives way, and is prepared again behind the earlier one."""
    many_contacts(a, 2)
    older, newer = a_contact(a, None), a_contact(a, "+491512")
    an_identity(older, a.channel, "491512")
    broadcast = sending(a, message=templated(a))
    with both_at_work(broadcast, older) as (one, other):
        pass
    assert (one.result(), other.result()) == (True, True)
    work(SIZE)
    rows = recipients(broadcast)
    assert (rows[older.pk].address, rows[older.pk].status) == ("+491512", "pending")
    assert (rows[newer.pk].address, rows[newer.pk].skip_reason) == (None, "duplicate_address")
    assert len(rows) == 4
    check_counts(broadcast)


def test_a_chunk_is_not_kept_where_the_one_before_it_broke(a: Tenant) -> None:
    many_contacts(a, 10)
    broadcast = sending(a, message=templated(a))
    people = list(Contact.objects.order_by("pk"))
    with both_at_work(broadcast, people[0]) as (one, other):
        [first] = wait_for_lock("transactionid")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [first])
        assert other.result(PATIENCE_SECONDS)
        assert Recipient.objects.of(broadcast).count() == 1  # that of this transaction
    with pytest.raises(OperationalError):
        one.result()
    work(SIZE)
    assert len(recipients(broadcast)) == 10
    check_counts(broadcast)


def test_a_cancellation_ends_both(a: Tenant) -> None:
    many_contacts(a, 10)
    broadcast = sending(a, message=templated(a))
    [first, *_] = Contact.objects.order_by("pk")
    with both_at_work(broadcast, first) as (one, other), ThreadPoolExecutor(1) as pool:
        cancelled = in_thread(pool, lambda: cancel_broadcast(broadcast=broadcast, now=now(), by=SYSTEM))
        cancelled.result()
    assert not one.result()
    other.result()
    work(SIZE)
    assert not recipients(broadcast)


def test_a_large_broadcast_is_given_a_second_connection(a: Tenant) -> None:
    many_contacts(a, 60)
    broadcast = scheduled(a, message=templated(a))
    seen = set[int]()

    def is_prepared() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            seen.update(cursor.fetchone() or ())
        return Broadcast.objects.get(pk=broadcast.pk).is_prepared

    run_preparation(should_stop=is_prepared, idle_seconds=0.01, chunk=SIZE)
    assert len(seen) > 1
    assert len(recipients(broadcast)) == 60
    check_counts(broadcast)
