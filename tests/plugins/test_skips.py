"""In CI a skipped test fails; elsewhere a test may skip itself."""

from pathlib import Path

import pytest

from tests.plugins.own_run import run_tests
from tests.plugins.skips import LEFT_OUT

pytestmark = pytest.mark.slow

TESTS = """
import unittest
import pytest

@pytest.mark.skip(reason="marked")
def test_marked(): pass

@pytest.fixture
def missing(): pytest.skip("a fixture's")

def test_of_a_fixture(missing): pass

def test_itself(): pytest.skip("its own")

def test_as_unittest(): raise unittest.SkipTest("unittest's")

def test_passes(): pass
"""
XFAIL = """
import pytest

@pytest.mark.xfail(reason="expected")
def test_expected_to_fail(): assert False

@pytest.mark.xfail(reason="unexpected")
def test_expected_to_fail_that_passes(): pass
"""
EXPECTED = (
    "test_own.py::test_expected_to_fail: expected to fail: expected",
    "test_own.py::test_expected_to_fail_that_passes: expected to fail: unexpected",
)
MODULE = """
import pytest
pytest.importorskip("no_such_module")
def test_passes(): pass
"""


# Else a module that fails ends the run before its first test.
GO_ON = "--continue-on-collection-errors"
SKIPPED_MODULE = f"{LEFT_OUT}: test_module.py: Skipped: could not import 'no_such_module'"


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "test_module.py"
    path.write_text(MODULE)
    return str(path)


def test_elsewhere_than_in_ci_a_skip_is_none_of_our_business(tmp_path: Path, module: str) -> None:
    status, printed = run_tests(tmp_path, TESTS, "skips", "-n0", module)
    assert status == 0, printed
    assert "1 passed, 5 skipped" in printed


def test_in_ci_what_is_skipped_or_expected_to_fail_fails_with_its_reason(tmp_path: Path, module: str) -> None:
    """What is skipped before it runs counts as an error, as the module does."""
    status, printed = run_tests(tmp_path, TESTS + XFAIL, "skips", "-n0", GO_ON, module, CI="true")
    assert status == 1, printed
    assert "4 failed, 1 passed, 3 errors" in printed
    for told in (
        "test_own.py::test_marked: Skipped: marked",
        "test_own.py::test_of_a_fixture: Skipped: a fixture's",
        "test_own.py::test_itself: Skipped: its own",
        "test_own.py::test_as_unittest: Skipped: unittest's",
        *EXPECTED,
    ):
        assert f"{LEFT_OUT}: {told}" in printed
    assert SKIPPED_MODULE in printed


def test_in_ci_a_parallel_worker_fails_a_module_that_is_skipped_and_expected_failures(
    tmp_path: Path, module: str
) -> None:
    status, printed = run_tests(tmp_path, XFAIL, "skips", "-n1", GO_ON, module, CI="true")
    assert status == 1, printed
    assert "2 failed, 1 error" in printed
    for told in EXPECTED:
        assert f"{LEFT_OUT}: {told}" in printed
    assert SKIPPED_MODULE in printed
