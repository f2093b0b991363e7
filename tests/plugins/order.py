"""Lets parallel workers begin with the slow tests, so that workers can share the quick ones at the end.

Each worker begins with its own part. When that is done, it takes over half of another worker's part. In the end each
worker has a few tests left that cannot be shared, and these must not take a minute.

Neighbouring modules are alike: some mostly wait, others mostly compute. Each worker begins its slow modules at another
place, so that not all of them wait at once while the cores have nothing to do.
"""

import os
from collections.abc import Sequence
from typing import Final, TypeVar

import pytest

Item = TypeVar("Item")
# The tests that take longest come first.
LONGEST: Final = (
    "tests/operations/test_chaos.py::test_each_kind",
    "tests/flows/every_page/",
    "tests/tools/local/test_product",
    "tests/tools/test_installation",
    "tests/tools/demo/test_demo",
    "tests/clocks/",
    "tests/docs/test_samples",
    "tests/servers/",
    "tests/config/celery/test_heartbeats",
    "tests/flows/tasks/",
    "tests/packs/test_secrets",
    "tests/workspaces/automations/flows/test_cleaning",
    "tests/config/serving/",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests that are left after the choice by markers and names."""
    longest: dict[str, list[pytest.Item]] = {}
    slow: dict[str, list[pytest.Item]] = {}
    quick = []
    for item in items:
        if item.get_closest_marker("slow") or item.get_closest_marker("browser"):
            groups = longest if item.nodeid.startswith(LONGEST) else slow
            groups.setdefault(item.nodeid.partition("::")[0], []).append(item)
        else:
            quick.append(item)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = in_parts(beginnings_of([*longest.values()], [*slow.values()], workers), quick)


def beginnings_of(longest: Sequence[Sequence[Item]], slow: Sequence[Sequence[Item]], workers: int) -> list[list[Item]]:
    """Share groups out among the workers, the longest first. Each worker begins the others at another place."""
    beginnings = [[*longest[number::workers]] for number in range(workers)]
    for number, beginning in enumerate(beginnings):
        # The worker that got fewer of the longest groups gets the first of the others.
        own = slow[(number - len(longest)) % workers :: workers]
        first = len(own) * number // workers
        beginning += [*own[first:], *own[:first]]
    return [[item for group in beginning for item in group] for beginning in beginnings]


def in_parts(beginnings: Sequence[list[Item]], quick: list[Item]) -> list[Item]:
    """Put the workers' parts after each other, as large as xdist makes them. Each begins with its slow tests."""
    number, used = len(quick) + sum(map(len, beginnings)), 0
    ordered: list[Item] = []
    for index, beginning in enumerate(beginnings):
        size = (number - len(ordered)) // (len(beginnings) - index)
        filling = quick[used : used + max(0, size - len(beginning))]
        ordered += beginning + filling
        used += len(filling)
    return ordered + quick[used:]
