"""Runs pytest in a separate process with one of the project's plugins, for tests of that plugin."""

import subprocess
import sys
from pathlib import Path

from tests.processes.own_processes import variables
from tools.local import ROOT

LIMIT_SECONDS = 300
ALONE = ("-c", "/dev/null", "-p", "xdist.plugin", "-p", "no:cacheprovider", "-W", "error", "-v")
# Variables of the run to which the test belongs.
OURS = (
    *("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID", "PYTEST_CURRENT_TEST"),
    *("PYTEST_ADDOPTS", "CI"),
)


def run_tests(folder: Path, source: str, plugin: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run a file with these tests in one worker, on this run's servers; give the status and the output."""
    file = folder / "test_own.py"
    file.write_text(source)
    inherited = {name: value for name, value in variables().items() if name not in OURS}
    own = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = (*ALONE, "--rootdir", str(folder), "-p", f"tests.plugins.{plugin}", "-n1", *arguments, str(file))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *command],
        cwd=folder,
        env={**inherited, **own, **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return run.returncode, run.stdout + run.stderr
