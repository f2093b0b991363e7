"""Couriers that work side by side, die, hang, and come back late: one effect, nothing lost."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.models import Event
from tests.tenants import Tenant
from tests.webhooks.conftest import Hire, Receive
from tests.webhooks.delivering import EVENT, ended, slowly, status, subscribe, tell, until
from tests.webhooks.transport.receivers import answer
from webhooks.courier import rows
from webhooks.courier.database import Connection, open_connection
from webhooks.courier.rows import Leased, Wants
from webhooks.courier.verdicts import refused, told
from webhooks.models import Attempt, Delivery, Errand, Shift


class Other:
    """Another courier, at the desk of the database alone: it leases, and sends nothing."""

    def __init__(self) -> None:
        self.number = random.randrange(1, 2**31)
        self.connection: Connection = open_connection("another courier")
        rows.begin_shift(self.connection, shift=self.number)
        rows.hold_presence(self.connection, shift=self.number)

    def take(self, *, room: int = 1_000, suspects: int = 0) -> list[Leased]:
        """Lease what is there; `suspects` is how many it has in hand."""
        rows.fan_out(self.connection)
        wants = Wants(1_000, room, {}, (), (), suspects)
        return rows.claim(self.connection, shift=self.number, wants=wants)

    def record(self, row: Leased, error: str = "refused") -> int:
        return rows.record(self.connection, shift=self.number, told=told([refused(row, "http://receiver/", error)]))

    def deliver(self, id: int) -> bool:
        """Record a success that took no time."""
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM webhooks_errand WHERE delivery_id = %s AND shift = %s", [id, self.number])
            found: int = cursor.rowcount
        Delivery.objects.filter(pk=id).update(status="success", completed_at=now())
        return found == 1

    def die(self) -> None:
        """Vanish, as long ago as the others wait for: the database has noticed, too."""
        session = self.connection.info.backend_pid
        self.connection.close()
        until(lambda: not is_open(session))
        self.fall_silent(seconds=rows.GRACE_SECONDS + 1)

    def fall_silent(self, *, seconds: float) -> None:
        then = now() - timedelta(seconds=seconds)
        Shift.objects.filter(number=self.number).update(started_at=then, seen_at=then)


def is_open(session: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [session])
        return cursor.fetchone() is not None


@pytest.fixture
def other(transactional_db: None) -> Iterator[Other]:
    courier = Other()
    yield courier
    courier.connection.close()


def ready(tenant: Tenant, receive: Receive, count: int = 1) -> None:
    """So many events of an agency that one endpoint wants."""
    subscribe(tenant, receive())
    tell(tenant, count)


def test_two_couriers_deliver_everything_once(a: Tenant, b: Tenant, hire: Hire, receive: Receive) -> None:
    receiver = receive()
    for tenant in (a, b):
        subscribe(tenant, receiver)
    hire(), hire()
    for _ in range(10):
        tell(a, 10)
        tell(b, 10)
    ended(a, 100)
    ended(b, 100)
    times = Counter(request.headers["x-svc-delivery"] for request in receiver.requests)
    assert len(times) == 200
    assert set(times.values()) == {1}
    assert Attempt.objects.count() == 200


def test_what_a_dead_courier_had_in_hand_is_delivered(a: Tenant, other: Other, hire: Hire, receive: Receive) -> None:
    ready(a, receive, 20)
    assert len(other.take()) == 20
    other.die()
    hire()
    assert {delivery.status for delivery in ended(a, 20)} == {"success"}
    assert {delivery.attempts for delivery in Delivery.objects.all()} == {1}
    assert not Shift.objects.filter(number=other.number).exists()


def test_a_living_couriers_deliveries_are_left_to_it(
    a: Tenant, b: Tenant, other: Other, hire: Hire, receive: Receive
) -> None:
    ready(a, receive, 3)
    assert len(other.take(room=1)) == 1
    ready(b, receive)
    hire()
    ended(b)
    time.sleep(0.3)
    assert not Attempt.objects.filter(delivery__agency=a.agency).exists()


def test_a_courier_that_hangs_loses_its_leases_after_twenty_seconds(
    a: Tenant, other: Other, hire: Hire, receive: Receive
) -> None:
    ready(a, receive)
    [row] = other.take()
    other.fall_silent(seconds=rows.LEASE_SECONDS - 3)
    hire()
    time.sleep(0.8)
    assert Errand.objects.get().shift == other.number
    other.fall_silent(seconds=rows.LEASE_SECONDS + 1)
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts) == ("success", 1)
    assert other.record(row) == 0
    assert not rows.be_seen(other.connection, shift=other.number)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts, delivery.error) == ("success", 1, None)
    assert Attempt.objects.get().error is None


def test_a_late_record_does_not_overwrite_a_newer_attempt(a: Tenant, other: Other, receive: Receive) -> None:
    ready(a, receive)
    [row] = other.take()
    newer = Other()
    other.die()
    rows.end_lost_shifts(newer.connection, shift=newer.number)
    [again] = newer.take()
    late = open_connection("the first courier, back again")
    assert rows.record(late, shift=other.number, told=told([refused(row, "http://late/", "timeout")])) == 0
    assert newer.record(again) == 1
    assert rows.record(late, shift=other.number, told=told([refused(row, "http://late/", "timeout")])) == 0
    late.close()
    newer.connection.close()
    assert Attempt.objects.get().url == "http://receiver/"
    assert Delivery.objects.get().error == "refused"


def test_a_courier_that_others_took_for_lost_leases_nothing_more(a: Tenant, other: Other, receive: Receive) -> None:
    """It does not know yet; a lease under a number that nobody ends would hold for ever."""
    ready(a, receive)
    newer = Other()
    other.fall_silent(seconds=rows.LEASE_SECONDS + 1)
    assert rows.end_lost_shifts(newer.connection, shift=newer.number) == 1
    assert other.take() == []
    assert len(newer.take()) == 1
    newer.connection.close()


def test_what_is_given_back_costs_neither_an_attempt_nor_a_lease(a: Tenant, other: Other, receive: Receive) -> None:
    ready(a, receive)
    for _ in range(15):
        [row] = other.take()
        rows.give_back(other.connection, shift=other.number, ids=[row.id])
    errand = Errand.objects.get()
    assert (errand.leases, errand.shift, errand.is_suspect) == (0, None, False)


def die_with_everything_in_hand(couriers: int) -> list[int]:
    """Let couriers take what is there and die, one after the other; gives how many deliveries each took."""
    taken = []
    for _ in range(couriers):
        one = Other()
        rows.end_lost_shifts(one.connection, shift=one.number)
        taken.append(len(one.take()))
        one.die()
    return taken


def test_a_delivery_that_kills_its_couriers_is_given_up_after_ten_and_costs_no_other(
    a: Tenant, b: Tenant, other: Other, receive: Receive
) -> None:
    """Whoever takes the poison dies before anything in hand is sent; whoever does not delivers what it has."""
    for tenant in (a, b):
        ready(tenant, receive, 150)
    rows.fan_out(other.connection)
    deaths, rounds, poison = 0, 0, 0
    while Errand.objects.exists():
        one = Other()
        rows.end_lost_shifts(one.connection, shift=one.number)
        taken = {row.id for row in one.take()}
        poison = poison or min(taken)
        rounds += 1
        if poison in taken:
            one.die()
            deaths += 1
        elif taken:
            for row in list(Errand.objects.filter(delivery_id__in=taken)):
                assert one.deliver(row.delivery_id)
            rows.end_shift(one.connection, shift=one.number)
            one.connection.close()
        else:
            one.die()
    given_up = Delivery.objects.get(pk=poison)
    assert (given_up.status, given_up.error, given_up.attempts) == ("error", "courier_lost", 0)
    assert deaths == 10
    assert rounds < 60
    assert Delivery.objects.filter(status="success").count() == 299


def test_suspects_are_taken_in_groups_that_shrink_with_every_courier_that_died(
    a: Tenant, other: Other, receive: Receive
) -> None:
    ready(a, receive, 300)
    assert die_with_everything_in_hand(8) == [300, 300, 256, 44, 64, 64, 64, 64]
    rows.end_lost_shifts(other.connection, shift=other.number)
    assert len(other.take(suspects=40)) == 64 - 40


def test_a_suspect_that_does_no_harm_is_delivered(a: Tenant, hire: Hire, receive: Receive) -> None:
    ready(a, receive, 30)
    assert die_with_everything_in_hand(2) == [30, 30]
    hire()
    assert {delivery.status for delivery in ended(a, 30)} == {"success"}
    assert not Errand.objects.exists()


def test_a_suspects_retry_is_an_ordinary_one(a: Tenant, hire: Hire, receive: Receive) -> None:
    subscribe(a, receive(answer(status(500))))
    tell(a)
    die_with_everything_in_hand(2)
    hire()
    errand = until(lambda: Errand.objects.filter(delivery__attempts=1).first())
    assert (errand.leases, errand.is_suspect, errand.is_ready, errand.shift) == (0, False, False, None)


def test_a_shift_ends_without_a_trace_and_gives_back_what_it_holds(a: Tenant, hire: Hire, receive: Receive) -> None:
    receiver = receive(slowly(0.2))
    subscribe(a, receiver)
    tell(a, 60)
    hired = hire()
    until(lambda: receiver.requests)
    hired.leave()
    assert not Shift.objects.exists()
    assert not Errand.objects.filter(shift__isnull=False).exists()
    done = Delivery.objects.filter(status="success").count()
    assert done == Attempt.objects.count() == len(receiver.requests)
    assert Errand.objects.filter(leases=0).count() == 60 - done
    hire()
    ended(a, 60)
    assert len(receiver.requests) == 60


def test_events_are_found_by_state_however_late_they_commit(a: Tenant, hire: Hire, receive: Receive) -> None:
    """An event with a lower number that commits after a higher one was fanned out."""
    receiver = receive()
    subscribe(a, receiver)
    tell(a, 3)
    first = Event.objects.filter(name=EVENT).earliest("id")
    Event.objects.filter(pk=first.pk).update(fanned_out_at=now())
    hire()
    ended(a, 2)
    Event.objects.filter(pk=first.pk).update(fanned_out_at=None)
    ended(a, 3)
    assert len({request.body for request in receiver.requests}) == 3


def test_an_event_fanned_out_twice_makes_one_delivery(a: Tenant, other: Other, receive: Receive) -> None:
    ready(a, receive)
    assert rows.fan_out(other.connection) == 1
    Event.objects.update(fanned_out_at=None)
    assert rows.fan_out(other.connection) == 1
    assert Delivery.objects.count() == Errand.objects.count() == 1
