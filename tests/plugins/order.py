"""Lets parallel workers begin with the slow tests, so that workers can share the quick ones at the end.

Each worker begins with its own part. When that is done, it takes over half of another worker's part. In the end each
worker has a few tests left that cannot be shared, and these must not take a minute.
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
    slow: dict[tuple[bool, str], list[pytest.Item]] = {}
    quick = []
    for item in items:
        if item.get_closest_marker("slow") or item.get_closest_marker("browser"):
            group = (not item.nodeid.startswith(LONGEST), item.nodeid.partition("::")[0])
            slow.setdefault(group, []).append(item)
        else:
            quick.append(item)
    groups = [slow[group] for group in sorted(slow, key=lambda group: group[0])]
    items[:] = in_parts(groups, quick, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def in_parts(groups: Sequence[list[Item]], quick: list[Item], workers: int) -> list[Item]:
    """Put the workers' parts after each other, as large as xdist makes them. Each begins with a share of the groups."""
    beginnings: list[list[Item]] = [[] for _ in range(workers)]
    for position, group in enumerate(groups):
        beginnings[position % workers] += group
    ordered: list[Item] = []
    number, used = len(quick) + sum(map(len, groups)), 0
    for index, beginning in enumerate(beginnings):
        size = (number - len(ordered)) // (workers - index)
        filling = quick[used : used + max(0, size - len(beginning))]
        ordered += beginning + filling
        used += len(filling)
    return ordered + quick[used:]
