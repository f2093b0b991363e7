"""Each parallel worker begins with slow tests and ends with quick ones."""

import pytest

from tests.plugins.order import in_parts


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
    groups = [["A", "A"], ["B"], ["C", "C"]]
    assert " ".join(in_parts(groups, list("12345678"), workers)) == expected


def test_nothing_is_lost_where_nearly_all_is_slow() -> None:
    groups = [["A"] * 5, ["B"]]
    assert in_parts(groups, ["1"], 3) == [*"AAAAA", "B", "1"]
