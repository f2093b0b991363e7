"""A plugin of pytest that counts what a search tried: its tests, Hypothesis' examples, and what tests record.

`PROOF_COUNTS` names the file that the sums are written to, as JSON.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis.statistics import collector, describe_statistics

from tests.sizes import COUNTS

TRIED = re.compile(r"(\d+) passing examples")
counted: Counter[str] = Counter()


def _tried(statistics: str) -> int:
    return sum(int(number) for number in TRIED.findall(statistics))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Count examples, of searches within a test too; Hypothesis' own plugin keeps those of whole tests."""
    examples = 0

    def note(statistics: Any) -> None:
        nonlocal examples
        examples += _tried(describe_statistics(statistics))

    with collector.with_value(note):  # type: ignore[arg-type]  # it holds nothing, or what is to be called
        done = yield
    examples += _tried(getattr(item, "hypothesis_statistics", ""))
    if examples:
        item.user_properties.append(("examples", examples))
    return done


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        counted["tests"] += report.passed
        for name, number in report.user_properties:
            counted[name] += int(str(number)) if str(number).isdecimal() else 0


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the sums down, once for all workers."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ[COUNTS]).write_text(json.dumps(counted))
