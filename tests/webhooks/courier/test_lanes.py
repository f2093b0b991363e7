"""Who may fly: shares of endpoints, agencies and the pool, and what hanging endpoints must not take."""

from itertools import count

from webhooks.courier.lanes import IN_HAND, PER_ENDPOINT, Lanes
from webhooks.courier.rows import Leased

numbers = count(1)


def rows(endpoint: int, many: int, agency: int = 1, *, is_suspect: bool = False) -> list[Leased]:
    return [
        Leased(next(numbers), agency, endpoint, 0, 3, is_suspect, "workspace.created", "", b"{}") for _ in range(many)
    ]


def known(*endpoints: int) -> Lanes:
    lanes = Lanes()
    lanes.known.update(endpoints)
    return lanes


def land(lanes: Lanes, flights: list[Leased], seconds: float = 0.01, *, failed: bool = False) -> None:
    for row in flights:
        lanes.land(row, seconds, failed=failed)


def test_an_endpoint_that_nobody_knows_begins_with_one_and_grows_to_eight() -> None:
    lanes = Lanes()
    lanes.add(rows(1, 100))
    sizes = []
    for _ in range(6):
        flights = lanes.take()
        sizes.append(len(flights))
        land(lanes, flights)
    assert sizes == [1, 2, 8, 8, 8, 8]


def test_an_endpoint_that_succeeded_last_has_eight_at_once_and_never_more() -> None:
    lanes = known(1)
    lanes.add(rows(1, 100))
    assert len(lanes.take()) == PER_ENDPOINT
    assert lanes.take() == []


def test_endpoints_take_turns() -> None:
    lanes = known(1, 2)
    lanes.add([*rows(1, 50), *rows(2, 3)])
    assert [row.endpoint_id for row in lanes.take()][:6] == [1, 2, 1, 2, 1, 2]


def test_an_agency_has_a_share_and_the_next_place_goes_to_a_lane_that_waits() -> None:
    lanes = known(*range(1, 21))
    for endpoint in range(1, 21):
        lanes.add(rows(endpoint, 8))
    flights = lanes.take()
    assert len(flights) == 64
    assert lanes.take() == []
    land(lanes, flights[:10])
    assert len(lanes.take()) == 10
    lanes.add(rows(99, 3, agency=2))
    assert [row.agency_id for row in lanes.take()] == [2]


def test_all_of_an_agencys_deliveries_fly_in_the_end() -> None:
    lanes = Lanes()
    for endpoint in range(1, 301):
        lanes.add(rows(endpoint, 5))
    flown = 0
    while flights := lanes.take():
        land(lanes, flights, 0.01 if flown % 3 else 3.0, failed=flown % 2 == 0)
        flown += len(flights)
    assert flown == 1_500
    assert (lanes.in_hand, lanes.flying) == (0, 0)


def test_endpoints_that_hang_leave_the_agencys_others_their_places() -> None:
    healthy = range(1, 11)
    lanes = known(*healthy)
    for endpoint in range(100, 228):
        lanes.add(rows(endpoint, 4))
    for _ in range(8):  # seconds: what is out that long goes among the slow
        for row in lanes.take():
            lanes.note_slow(row)
    assert lanes.pools.flying == [0, 0, 128]
    for endpoint in healthy:
        lanes.add(rows(endpoint, 20))
    assert len(lanes.take()) == 64


def test_more_endpoints_that_hang_than_there_are_places_leave_half_of_the_share() -> None:
    lanes = known(1, 2, 3, 4)
    for endpoint in range(100, 600):
        lanes.add(rows(endpoint, 2))
    for _ in range(20):
        for row in lanes.take():
            lanes.note_slow(row)
    assert lanes.pools.flying == [32, 0, 128]
    for endpoint in (1, 2, 3, 4):
        lanes.add(rows(endpoint, 20))
    assert len(lanes.take()) == 32


def test_agencies_whose_endpoints_hang_leave_the_others_their_places() -> None:
    lanes = known(1)
    for agency in range(2, 30):
        for endpoint in range(agency * 1000, agency * 1000 + 60):
            lanes.add(rows(endpoint, 1, agency))
    for _ in range(30):
        for row in lanes.take():
            lanes.note_slow(row)
    assert lanes.pools.flying == [224, 0, 256]
    lanes.add(rows(1, 20, agency=1))
    assert len(lanes.take()) == 8


def test_after_a_timeout_an_endpoint_has_one_place_among_the_slow_until_it_answers() -> None:
    lanes = known(1)
    lanes.add(rows(1, 40))
    flights = lanes.take()
    for row in flights:
        lanes.note_slow(row)
    land(lanes, flights, 10.0, failed=True)
    [probe] = lanes.take()
    assert lanes.pools.flying == [0, 0, 1]
    lanes.land(probe, 0.01, failed=False)
    assert len(lanes.take()) == 2
    assert lanes.pools.flying == [0, 2, 0]


def test_a_slow_endpoint_that_succeeds_keeps_its_places() -> None:
    lanes = known(1)
    lanes.add(rows(1, 40))
    land(lanes, lanes.take(), 2.0)
    assert len(lanes.take()) == 8
    assert lanes.pools.flying == [0, 0, 8]


def test_what_waited_too_long_in_hand_is_given_up_and_the_places_go_to_others() -> None:
    lanes = known(*range(1, 12))
    for endpoint in range(1, 12):
        lanes.add(rows(endpoint, 10))
    flights = lanes.take()
    assert len(lanes.drop_waiting()) == 110 - 64
    assert lanes.in_hand == 64
    lanes.add(rows(11, 1))
    land(lanes, flights)
    assert len(lanes.take()) == 1
    assert lanes.drop_waiting(longer_than=5) == []


def test_the_room_follows_the_pace() -> None:
    lanes = known(1, 2)
    lanes.add([*rows(1, 1), *rows(2, 1)])
    assert lanes.rooms() == {1: 31, 2: 31}
    for _ in range(40):
        lanes.add([*rows(1, 1), *rows(2, 1)])
        for row in lanes.take():
            lanes.land(row, 0.001 if row.endpoint_id == 1 else 9.9, failed=row.endpoint_id == 2)
    rooms = lanes.rooms()
    assert rooms[1] == 512
    assert rooms[2] == 1


def test_an_agency_whose_endpoints_hang_gets_no_more_in_hand() -> None:
    lanes = Lanes()
    for endpoint in range(1, 257):
        lanes.add(rows(endpoint, 1))
    assert lanes.agencies_in_hand() == ([1], [1])
    lanes.add(rows(1, 1, agency=2)[:0])
    lanes.add(rows(999, 1, agency=2))
    assert lanes.agencies_in_hand() == ([1, 2], [1])


def test_endpoints_that_hang_do_not_fill_their_agencys_hand() -> None:
    hanging = range(1, 11)
    lanes = known(*hanging, 99)
    for endpoint in hanging:
        lanes.add(rows(endpoint, 20))
    flights: list[Leased] = []
    while departing := lanes.take():
        flights += departing
        for row in departing:
            lanes.note_slow(row)
    land(lanes, flights, 10.0, failed=True)
    lanes.add(rows(99, 1))
    assert lanes.agencies_in_hand() == ([1], [])
    assert {endpoint: room for endpoint, room in lanes.rooms().items() if room} == {99: 31}


def test_an_endpoint_known_as_slow_gets_one_in_hand_even_after_a_rest() -> None:
    lanes = known(1)
    lanes.add(rows(1, 8))
    flights = lanes.take()
    for row in flights:
        lanes.note_slow(row)
    land(lanes, flights, 10.0, failed=True)
    lanes.forget_idle()
    assert lanes.rooms() == {1: 1}


def test_so_many_of_an_agencys_slow_deliveries_wait_in_hand_and_no_more() -> None:
    lanes = Lanes()
    for endpoint in range(1, 129):
        lanes.add(rows(endpoint, 5))
    while departing := lanes.take():
        for row in departing:
            lanes.note_slow(row)
    assert lanes.agencies_in_hand() == ([1], [1])


def test_suspects_in_hand_are_counted() -> None:
    lanes = known(1)
    lanes.add(rows(1, 1, is_suspect=True))
    assert lanes.suspects == 1
    land(lanes, lanes.take())
    assert lanes.suspects == 0


def test_thousands_of_endpoints_at_rest_are_forgotten() -> None:
    lanes = Lanes()
    for endpoint in range(1, 10_500, 500):
        lanes.add([row for one in range(endpoint, endpoint + 500) for row in rows(one, 1, agency=one)])
        while flights := lanes.take():
            land(lanes, flights)
    lanes.add(rows(77, 1, agency=77))
    lanes.forget_idle()
    assert list(lanes.rooms()) == [77]
    assert len(lanes.take()) == 1
    assert lanes.in_hand < IN_HAND
