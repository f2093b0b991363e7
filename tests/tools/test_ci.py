"""`.ci/run` runs every check whatever the others say, shows each whole, and leaves nothing behind."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.processes.starting import END_SECONDS, start_process
from tests.waiting import until
from tools.local import ROOT

RUN = str(ROOT / ".ci" / "run")
# What stands for make: it says what it was asked for, and fails or goes on for ever where the test wants that.
MAKE = """#!/bin/sh
echo "make $* begins"
case " $FAILING " in *" $1 "*) echo "make $1 fails" >&2; exit 2 ;; esac
case " $ENDLESS " in *" $1 "*) echo $$ > "$PIDS/$1.new" && mv "$PIDS/$1.new" "$PIDS/$1" && exec sleep 600 ;; esac
if [ -n "$SLOW" ] && [ "$1 $2" = "$SLOW" ]; then sleep 1; touch "$PIDS/slow"; fi
if [ "$1" = test ] && [ -n "$SLOW" ]; then ls "$PIDS/slow"; fi
echo "make $* ends"
"""
PYTHONS = ("python3.12", "python3.13", "python3.14")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine with a Python 3.14, on which nothing is installed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("make", MAKE), *((name, "#!/bin/sh\n[ ${0##*.} = 14 ]\n") for name in PYTHONS)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), "PIDS": str(tmp_path)}


def run(environment: dict[str, str], **more: str) -> tuple[int, list[str]]:
    """Give the status and the lines that were printed."""
    ended = subprocess.run(
        [RUN],
        env={**environment, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=END_SECONDS,
    )
    return ended.returncode, ended.stdout.splitlines()


def test_all_checks_run_and_what_ran_beside_others_is_shown_after_them(environment: dict[str, str]) -> None:
    status, lines = run(environment)
    commands = ("install", "lint", "test", "install PYTHON=python3.14", "smoke PYTHON=python3.14 WORKERS=2")
    assert (status, lines) == (0, [f"make {command} {said}" for command in commands for said in ("begins", "ends")])


def test_tests_wait_until_all_is_installed(environment: dict[str, str], tmp_path: Path) -> None:
    status, lines = run(environment, SLOW="install PYTHON=python3.14")
    assert status == 0
    assert lines[lines.index("make test begins") + 1] == str(tmp_path / "slow")


def test_without_a_newer_python_there_is_nothing_to_smoke(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin" / "python3.14").write_text("#!/bin/sh\nexit 1\n")
    status, lines = run(environment)
    commands = ("install", "lint", "test")
    assert (status, lines) == (0, [f"make {command} {said}" for command in commands for said in ("begins", "ends")])


@pytest.mark.parametrize(("failing", "statuses"), [("lint", (2, 0, 0)), ("smoke", (0, 2, 0)), ("test", (0, 0, 2))])
def test_what_fails_is_shown_fails_the_run_and_keeps_nothing_from_running(
    environment: dict[str, str], failing: str, statuses: tuple[int, int, int]
) -> None:
    status, lines = run(environment, FAILING=failing)
    assert status == 1
    assert f"make {failing} fails" in lines
    begun = {line.split()[1] for line in lines if line.endswith("begins")}
    assert begun == {"install", "lint", "smoke", "test"}
    assert lines[-1] == "make lint ended with status {}, make smoke with {}, make test with {}.".format(*statuses)


def test_where_nothing_can_be_installed_the_run_fails(environment: dict[str, str]) -> None:
    status, lines = run(environment, FAILING="install")
    assert status == 1
    assert [line for line in lines if line.endswith("fails")] == ["make install fails"] * 2


@pytest.mark.parametrize(
    ("endless", "ending"),
    [(("lint", "smoke"), signal.SIGINT), (("smoke", "test"), signal.SIGTERM), (("lint", "smoke"), signal.SIGHUP)],
)
def test_a_signal_ends_all_that_was_begun(
    environment: dict[str, str], tmp_path: Path, endless: tuple[str, ...], ending: signal.Signals
) -> None:
    command = ("env", "--default-signal", RUN)  # the tests may have been started with some ignored
    process = start_process(command, {**environment, "ENDLESS": " ".join(endless)})
    files = [tmp_path / name for name in endless]
    until(lambda: all(file.exists() for file in files), what="the commands to begin")
    folders = [Path("/proc", file.read_text().strip()) for file in files]
    process.send_signal(ending)
    assert process.wait(END_SECONDS) == 128 + ending
    until(lambda: not any(folder.exists() for folder in folders), what="the commands to end")
