"""Makes a test or module that skips itself fail in CI, so that no test is left out unnoticed."""

import os
from collections.abc import Generator

import pytest

LEFT_OUT = "This was skipped, and CI leaves nothing out"


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip, or an expected failure, into a failure."""
    expected_failure = getattr(report, "wasxfail", None)
    if not os.environ.get("CI") or not (report.skipped or expected_failure is not None):
        return
    if expected_failure is not None:
        del report.wasxfail
        reason = f"expected to fail: {expected_failure}"
    else:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"{LEFT_OUT}: {report.nodeid}: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail(report)
    return report
