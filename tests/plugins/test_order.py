"""Each parallel worker begins with slow tests and ends with quick ones."""

import pytest

from tests.plugins.order import beginnings_of, in_parts


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        (1, "A A B C C 1 2 3 4 5 6 7 8"),
        (2, "A A C C 1 2 B 3 4 5 6 7 8"),
        (3, "A A 1 2 B 3 4 5 C C 6 7 8"),
        (4, "A A 1 B 2 3 C C 4 5 6 7 8"),
    ],
)
def test_parts_are_as_large_as_those_of_workers_and_begin_with_whole_modules(workers: int, expected: str) -> None:
    beginnings = beginnings_of([["A", "A"], ["B"], ["C", "C"]], [], workers)
    assert " ".join(in_parts(beginnings, list("12345678"))) == expected


def test_nothing_is_lost_where_nearly_all_is_slow() -> None:
    beginnings = beginnings_of([], [["A"] * 5, ["B"]], 3)
    assert in_parts(beginnings, ["1"]) == [*"AAAAA", "B", "1"]


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        (1, ["A B C 1 2 3 4 5 6 7"]),
        (2, ["A C 2 4 6", "B 5 7 1 3"]),
        (3, ["A 1 4 7", "B 2 5", "C 6 3"]),
        (4, ["A 2 6", "B 3 7", "C 4", "5 1"]),
    ],
)
def test_each_worker_begins_with_its_longest_and_starts_the_others_at_another_place(
    workers: int, expected: list[str]
) -> None:
    beginnings = beginnings_of(list("ABC"), list("1234567"), workers)
    assert [" ".join(one) for one in beginnings] == expected
