"""Who may send: slots of endpoints, of agencies and of all, and what hanging endpoints must not take."""

from itertools import count

import pytest

from webhooks.dispatcher import queues as dispatcher_queues
from webhooks.dispatcher.queries import LeasedDelivery
from webhooks.dispatcher.queues import MOST_LEASED, PER_ENDPOINT, EndpointQueues

numbers = count(1)


def rows(
    endpoint: int, many: int, agency: int = 1, *, workspace: int | None = None, is_suspect: bool = False
) -> list[LeasedDelivery]:
    return [
        LeasedDelivery(next(numbers), agency, workspace, endpoint, 0, 3, is_suspect, "workspace.created", "", b"{}")
        for _ in range(many)
    ]


def known(*endpoints: int) -> EndpointQueues:
    queues = EndpointQueues()
    queues.known.update(endpoints)
    return queues


def finish(
    queues: EndpointQueues, attempts: list[LeasedDelivery], seconds: float = 0.01, *, failed: bool = False
) -> None:
    for row in attempts:
        queues.finish(row, seconds, failed=failed)


def test_an_endpoint_that_nobody_knows_begins_with_one_and_grows_to_eight() -> None:
    queues = EndpointQueues()
    queues.add(rows(1, 100))
    sizes = []
    for _ in range(6):
        attempts = queues.take()
        sizes.append(len(attempts))
        finish(queues, attempts)
    assert sizes == [1, 2, 8, 8, 8, 8]


def test_an_endpoint_that_succeeded_last_has_eight_at_once_and_never_more() -> None:
    queues = known(1)
    queues.add(rows(1, 100))
    assert len(queues.take()) == PER_ENDPOINT
    assert queues.take() == []


def test_endpoints_take_turns() -> None:
    queues = known(1, 2)
    queues.add([*rows(1, 50), *rows(2, 3)])
    assert [row.endpoint_id for row in queues.take()][:6] == [1, 2, 1, 2, 1, 2]


def test_an_agency_has_a_quota_and_the_next_slot_goes_to_a_queue_that_waits() -> None:
    queues = known(*range(1, 21))
    for endpoint in range(1, 21):
        queues.add(rows(endpoint, 8))
    attempts = queues.take()
    assert len(attempts) == 64
    assert queues.take() == []
    finish(queues, attempts[:10])
    assert len(queues.take()) == 10
    queues.add(rows(99, 3, agency=2))
    assert [row.agency_id for row in queues.take()] == [2]


def test_all_of_an_agencys_deliveries_are_sent_in_the_end() -> None:
    queues = EndpointQueues()
    for endpoint in range(1, 301):
        queues.add(rows(endpoint, 5))
    sent = 0
    while attempts := queues.take():
        finish(queues, attempts, 0.01 if sent % 3 else 3.0, failed=sent % 2 == 0)
        sent += len(attempts)
    assert sent == 1_500
    assert (queues.leased, queues.in_flight) == (0, 0)


def test_endpoints_that_hang_leave_the_agencys_others_their_slots() -> None:
    healthy = range(1, 11)
    queues = known(*healthy)
    for endpoint in range(100, 228):
        queues.add(rows(endpoint, 4))
    for _ in range(8):  # seconds: what is out that long goes among the slow
        for row in queues.take():
            queues.mark_slow(row)
    assert queues.limits.in_flight == [0, 0, 128]
    for endpoint in healthy:
        queues.add(rows(endpoint, 20))
    assert len(queues.take()) == 64


def test_more_endpoints_that_hang_than_there_are_slots_leave_half_of_the_quota() -> None:
    queues = known(1, 2, 3, 4)
    for endpoint in range(100, 600):
        queues.add(rows(endpoint, 2))
    for _ in range(20):
        for row in queues.take():
            queues.mark_slow(row)
    assert queues.limits.in_flight == [32, 0, 128]
    for endpoint in (1, 2, 3, 4):
        queues.add(rows(endpoint, 20))
    assert len(queues.take()) == 32


def test_agencies_whose_endpoints_hang_leave_the_others_their_slots() -> None:
    queues = known(1)
    for agency in range(2, 30):
        for endpoint in range(agency * 1000, agency * 1000 + 60):
            queues.add(rows(endpoint, 1, agency))
    for _ in range(30):
        for row in queues.take():
            queues.mark_slow(row)
    assert queues.limits.in_flight == [224, 0, 256]
    queues.add(rows(1, 20, agency=1))
    assert len(queues.take()) == 8


def test_after_a_timeout_an_endpoint_has_one_slot_among_the_slow_until_it_answers() -> None:
    queues = known(1)
    queues.add(rows(1, 40))
    attempts = queues.take()
    for row in attempts:
        queues.mark_slow(row)
    finish(queues, attempts, 10.0, failed=True)
    [probe] = queues.take()
    assert queues.limits.in_flight == [0, 0, 1]
    queues.finish(probe, 0.01, failed=False)
    assert len(queues.take()) == 2
    assert queues.limits.in_flight == [0, 2, 0]


def test_a_slow_endpoint_that_succeeds_keeps_its_slots() -> None:
    queues = known(1)
    queues.add(rows(1, 40))
    finish(queues, queues.take(), 2.0)
    assert len(queues.take()) == 8
    assert queues.limits.in_flight == [0, 0, 8]


def test_what_waited_too_long_is_given_up_and_the_slots_go_to_others() -> None:
    queues = known(*range(1, 12))
    for endpoint in range(1, 12):
        queues.add(rows(endpoint, 10))
    attempts = queues.take()
    assert len(queues.drop_waiting()) == 110 - 64
    assert queues.leased == 64
    queues.add(rows(11, 1))
    finish(queues, attempts)
    assert len(queues.take()) == 1
    assert queues.drop_waiting(longer_than=5) == []


def test_the_room_follows_the_speed() -> None:
    queues = known(1, 2)
    queues.add([*rows(1, 1), *rows(2, 1)])
    assert queues.rooms() == {1: 31, 2: 31}
    for _ in range(40):
        queues.add([*rows(1, 1), *rows(2, 1)])
        for row in queues.take():
            queues.finish(row, 0.001 if row.endpoint_id == 1 else 9.9, failed=row.endpoint_id == 2)
    rooms = queues.rooms()
    assert rooms[1] == 512
    assert rooms[2] == 1


def test_an_agency_whose_endpoints_hang_gets_no_more_leased() -> None:
    queues = EndpointQueues()
    for endpoint in range(1, 257):
        queues.add(rows(endpoint, 1))
    assert queues.full_tenants() == ([], [-1])
    queues.add(rows(1, 1, agency=2)[:0])
    queues.add(rows(999, 1, agency=2))
    assert queues.full_tenants() == ([], [-1])


def test_endpoints_that_hang_do_not_fill_their_agencys_quota() -> None:
    hanging = range(1, 11)
    queues = known(*hanging, 99)
    for endpoint in hanging:
        queues.add(rows(endpoint, 20))
    attempts: list[LeasedDelivery] = []
    while starting := queues.take():
        attempts += starting
        for row in starting:
            queues.mark_slow(row)
    finish(queues, attempts, 10.0, failed=True)
    queues.add(rows(99, 1))
    assert queues.full_tenants() == ([], [])
    assert {endpoint: room for endpoint, room in queues.rooms().items() if room} == {99: 31}


def test_an_endpoint_known_as_slow_gets_one_leased_even_after_a_rest() -> None:
    queues = known(1)
    queues.add(rows(1, 8))
    attempts = queues.take()
    for row in attempts:
        queues.mark_slow(row)
    finish(queues, attempts, 10.0, failed=True)
    queues.forget_idle()
    assert queues.rooms() == {1: 1}


def test_so_many_of_an_agencys_slow_deliveries_wait_and_no_more() -> None:
    queues = EndpointQueues()
    for endpoint in range(1, 129):
        queues.add(rows(endpoint, 5))
    while starting := queues.take():
        for row in starting:
            queues.mark_slow(row)
    assert queues.full_tenants() == ([], [-1])


def test_leased_suspects_are_counted() -> None:
    queues = known(1)
    queues.add(rows(1, 1, is_suspect=True))
    assert queues.suspects == 1
    finish(queues, queues.take())
    assert queues.suspects == 0


@pytest.fixture
def _short_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand endpoints, which queues remember, are one thousand here."""
    assert dispatcher_queues._REMEMBERED == 10_000
    monkeypatch.setattr(dispatcher_queues, "_REMEMBERED", 1_000)


@pytest.mark.usefixtures("_short_memory")
def test_endpoints_at_rest_are_forgotten_when_there_are_more_than_queues_remember() -> None:
    queues = EndpointQueues()
    for endpoint in range(1, 1_050, 50):
        queues.add([row for one in range(endpoint, endpoint + 50) for row in rows(one, 1, agency=one)])
        while attempts := queues.take():
            finish(queues, attempts)
    queues.add(rows(77, 1, agency=77))
    queues.forget_idle()
    assert list(queues.rooms()) == list(queues._queues) == [77]
    assert len(queues.take()) == 1
    assert queues.leased < MOST_LEASED


def of_workspaces(workspaces: range, each: int, *, agency: int = 1) -> list[LeasedDelivery]:
    """Deliveries of so many workspaces, each with one endpoint."""
    return [row for one in workspaces for row in rows(one, each, agency, workspace=one)]


def test_a_workspace_has_a_quota_of_its_own() -> None:
    queues = known(*range(1, 21))
    for endpoint in range(1, 21):
        queues.add(rows(endpoint, 8, workspace=77))
    assert len(queues.take()) == 32


def test_all_workspaces_of_an_agency_have_one_quota_together_and_another_agency_its_own() -> None:
    queues = known(*range(1, 302))
    queues.add(of_workspaces(range(1, 301), 4))
    attempts = queues.take()
    assert len(attempts) == 96
    assert len({row.workspace_id for row in attempts}) == 96
    queues.add(rows(301, 8, agency=2))
    assert [row.agency_id for row in queues.take()] == [2] * 8
    finish(queues, attempts[:10])
    assert {row.agency_id for row in queues.take()} == {1}


def test_an_agencys_own_endpoints_and_its_workspaces_leave_each_other_room() -> None:
    queues = known(*range(1, 21), *range(100, 120))
    for endpoint in range(1, 21):
        queues.add(rows(endpoint, 8))
    assert len(queues.take()) == 64
    queues.add(of_workspaces(range(100, 120), 8))
    attempts = queues.take()
    assert len(attempts) == 32
    assert {row.workspace_id is None for row in attempts} == {False}


def test_a_slot_that_a_full_workspace_cannot_use_goes_to_the_next() -> None:
    """A queue that waited for the agency comes when its workspace has got full."""
    queues = known(*range(1, 400))
    queues.add(of_workspaces(range(200, 264), 1))
    others = queues.take()
    for endpoint in range(1, 5):
        queues.add(rows(endpoint, 8, workspace=7))
    queues.add(of_workspaces(range(300, 310), 1))
    queues.add(rows(5, 8, workspace=7))
    full = queues.take()
    assert len(others) + len(full) == 96
    finish(queues, others)
    assert len(queues.take()) == 64 - 54 + (32 - 32)


def test_all_deliveries_of_all_tenants_are_sent_in_the_end() -> None:
    queues = EndpointQueues()
    for endpoint in range(1, 401):
        workspace = endpoint % 25 or None
        queues.add(rows(endpoint, 5, endpoint % 2, workspace=workspace))
    sent = rounds = 0
    while attempts := queues.take():
        for number, row in enumerate(attempts):
            if (number + rounds) % 5 == 0:
                queues.mark_slow(row)
        finish(queues, attempts, 0.01 if rounds % 3 else 3.0, failed=rounds % 2 == 0)
        sent += len(attempts)
        rounds += 1
    assert sent == 2_000
    assert (queues.leased, queues.in_flight, queues.limits.in_flight) == (0, 0, [0, 0, 0])


def test_workspaces_that_hang_leave_their_agency_and_the_others_their_slots() -> None:
    queues = known(1, 2, 3)
    queues.add(of_workspaces(range(100, 500), 2))
    for _ in range(20):
        for row in queues.take():
            queues.mark_slow(row)
    assert queues.limits.in_flight == [48, 0, 160]
    queues.add([*rows(1, 20), *rows(2, 20, workspace=2), *rows(3, 20, agency=2)])
    assert len(queues.take()) == 24


def test_a_workspace_or_an_agency_that_has_enough_gets_no_more_leased() -> None:
    queues = EndpointQueues()
    for endpoint in range(1, 129):
        queues.add(rows(endpoint, 1, workspace=7))
    assert queues.full_tenants() == ([], [7])
    queues.add(of_workspaces(range(200, 456), 1))
    assert queues.full_tenants() == ([1], [7])


@pytest.mark.usefixtures("_short_memory")
def test_quotas_of_workspaces_at_rest_are_forgotten() -> None:
    queues = EndpointQueues()
    for first in range(1, 1_101, 100):
        queues.add(of_workspaces(range(first, first + 100), 1, agency=first))
        while attempts := queues.take():
            finish(queues, attempts)
    queues.add(rows(1, 1, workspace=1))
    queues.forget_idle()
    assert (len(queues._quotas), len(queues._agencies)) == (1, 1)
