"""No two parts of the product lock the same number: all numbers are in one place, and nobody writes one elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.postgresql import concurrency
from config.postgresql.concurrency import AdvisoryLock
from tools.local import ROOT

APPS = ("agency", "broadcasts", "channelconnect", "config", "packs", "webhooks", "workspaces")
REGISTRY = Path(concurrency.__file__)
CALL = re.compile(r"pg_\w*advisory\w*lock\w*\(\s*(?P<first>[^,)]*)")
OURS = re.compile(r"\b7_?105_?0\d\d\b")


def sources() -> Iterator[Path]:
    for app in APPS:
        yield from (path for path in (ROOT / app).rglob("*.py") if path != REGISTRY)


def literals(text: str) -> list[str]:
    """Numbers of ours, and numbers that stand in a call as its first argument."""
    in_calls = [call["first"].strip() for call in CALL.finditer(text)]
    return OURS.findall(text) + [first for first in in_calls if re.fullmatch(r"[\d_]+", first)]


def test_all_numbers_are_different() -> None:
    written = re.findall(r"= (7_105_\d+)", REGISTRY.read_text())
    assert len(written) == len(set(written)) == len(AdvisoryLock)


def test_no_number_is_written_elsewhere() -> None:
    assert {str(path): found for path in sources() if (found := literals(path.read_text()))} == {}


def test_no_file_has_a_lock_number_of_its_own() -> None:
    """Of the leases each queue brings its own."""
    users = {path for path in sources() if CALL.search(path.read_text())} - {ROOT / "config/leases/runs.py"}
    assert len(users) >= 7
    assert {str(path) for path in users if "AdvisoryLock." not in path.read_text()} == set()


def test_every_number_is_used() -> None:
    text = "".join(path.read_text() for path in sources())
    assert {lock.name for lock in AdvisoryLock if f"AdvisoryLock.{lock.name}.value" not in text} == set()


@pytest.mark.parametrize(
    "text", ["LOCK = 7_105_004", "LOCK = 7105004", 'execute("SELECT pg_advisory_xact_lock(42, %s)")']
)
def test_a_number_in_the_code_is_found(text: str) -> None:
    assert literals(text)
