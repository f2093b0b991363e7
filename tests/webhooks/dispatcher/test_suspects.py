"""A delivery whose dispatchers die is suspected: it is tried in ever smaller groups, and given up after ten deaths."""

from tests.config.http.receivers import answer
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import ended, record_events, status, subscribe
from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher, record_wanted_events
from webhooks.dispatcher import queries
from webhooks.models import Delivery, QueuedDelivery


def die_with_everything_leased(dispatchers: int) -> list[int]:
    """Let dispatchers take what is there and die, one after the other; gives how many deliveries each took."""
    taken = []
    for _ in range(dispatchers):
        one = OtherDispatcher()
        queries.RUNS.end_lost(one.connection, run=one.number)
        taken.append(len(one.take()))
        one.die()
    return taken


def test_a_delivery_that_kills_its_dispatchers_is_given_up_after_ten_and_costs_no_other(
    a: Tenant, b: Tenant, other: OtherDispatcher, start_receiver: StartReceiver
) -> None:
    """Whoever takes the poison dies before anything that it leased is sent; whoever does not delivers what it has."""
    for tenant in (a, b):
        record_wanted_events(tenant, start_receiver, 70)
    other.make_deliveries()
    queries.RUNS.end(other.connection, run=other.number)
    deaths, rounds, poison = 0, 0, 0
    while QueuedDelivery.objects.exists():
        one = OtherDispatcher()
        queries.RUNS.end_lost(one.connection, run=one.number)
        taken = {row.id for row in one.take()}
        poison = poison or min(taken)
        rounds += 1
        if poison in taken:
            one.die()
            deaths += 1
        elif taken:
            for row in list(QueuedDelivery.objects.filter(delivery_id__in=taken)):
                assert one.deliver(row.delivery_id)
            queries.RUNS.end(one.connection, run=one.number)
            one.connection.close()
        else:
            one.die()
    given_up = Delivery.objects.get(pk=poison)
    assert (given_up.status, given_up.error, given_up.attempts) == ("error", "worker_lost", 0)
    assert deaths == 10
    assert rounds < 60
    assert Delivery.objects.filter(status="success").count() == 139


def test_suspects_are_taken_in_groups_that_shrink_with_every_dispatcher_that_died(
    a: Tenant, transactional_db: None, start_receiver: StartReceiver
) -> None:
    record_wanted_events(a, start_receiver, 300)
    assert die_with_everything_leased(8) == [300, 300, 256, 44, 64, 64, 64, 64]
    other = OtherDispatcher()
    queries.RUNS.end_lost(other.connection, run=other.number)
    assert len(other.take(suspects=40)) == 64 - 40
    other.connection.close()


def test_a_suspect_that_does_no_harm_is_delivered(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    record_wanted_events(a, start_receiver, 30)
    assert die_with_everything_leased(2) == [30, 30]
    start_dispatcher()
    assert {delivery.status for delivery in ended(a, 30)} == {"success"}
    assert not QueuedDelivery.objects.exists()


def test_a_suspects_retry_is_an_ordinary_one(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    subscribe(a, start_receiver(answer(status(500))))
    record_events(a)
    die_with_everything_leased(2)
    start_dispatcher()
    queued = until(lambda: QueuedDelivery.objects.filter(delivery__attempts=1).first())
    assert (queued.lost_leases, queued.is_suspect, queued.is_ready, queued.run) == (0, False, False, None)
