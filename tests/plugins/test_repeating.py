"""Tests are repeated, and other processes keep the machine busy meanwhile."""

import json
import re
from pathlib import Path

import pytest

from tests.plugins.own_run import run_tests
from tests.tools.local.processes import all_gone

pytestmark = pytest.mark.slow

TESTS = """
import json, os
from pathlib import Path
import pytest

@pytest.fixture
def fresh():
    return []

def spinning():
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = os.environ["MARK"].encode() in (folder / "environ").read_bytes()
            if is_ours and b"while True: pass" in (folder / "cmdline").read_bytes():
                yield int(folder.name)
        except OSError:
            pass

@pytest.mark.parametrize("word", ["one", "two"])
def test_of(fresh, word):
    assert fresh == []
    fresh.append(word)
    with open(os.environ["SEEN"], "a") as seen:
        print(json.dumps(list(spinning())), file=seen)

def test_without_parameters():
    pass
"""


def test_each_test_is_repeated_beside_processes_that_compute_and_end_with_the_run(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    arguments = ("--repeat", "3", "--beside", "2")
    status, printed = run_tests(tmp_path, TESTS, "repeating", *arguments, SEEN=str(seen), MARK=str(tmp_path))
    assert status == 0, printed
    repetitions = {f"{number}-3" for number in (1, 2, 3)}
    assert set(re.findall(r"PASSED \S*::(test_\w+\[.+\])", printed)) == {
        *(f"test_of[{number}-{word}]" for word in ("one", "two") for number in repetitions),
        *(f"test_without_parameters[{number}]" for number in repetitions),
    }
    beside = [json.loads(line) for line in seen.read_text().splitlines()]
    assert len(beside) == 6
    assert [len(pids) for pids in beside] == [2] * 6
    assert all_gone({pid for pids in beside for pid in pids})
