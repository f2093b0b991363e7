"""The clock of leases goes on while the machine sleeps."""

import time

import pytest

from config.leases import claimer
from config.leases.claimer import lease_clock


def test_it_is_the_clock_that_counts_sleep_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = {time.CLOCK_BOOTTIME: 9_000.0}
    monkeypatch.setattr(time, "clock_gettime", readings.__getitem__)
    assert lease_clock() == 9_000.0


def test_elsewhere_it_is_one_that_nobody_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claimer, "_CLOCK", None)
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    assert lease_clock() == 7.0
