"""Every worker and beat say that their loops turn, and the check finds one that does not."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from config.heartbeats import SILENCE_SECONDS, Heartbeat, HeartbeatRecord, path_of, read, silent_loops
from tests.processes.forked_celery import celery_order
from tests.processes.preloaded import Preloaded
from tests.waiting import until
from tools.local import ROOT

# Of the worker's queues those of two loops: its other loop, and the tasks that end, prove the same or nothing here.
SMALLER = {"worker": ("-Q", "broadcasts,callbacks", "-c", "2")}


def check(folder: Path, *arguments: str) -> tuple[int, str]:
    """Ask as a container does: by the command, without Django."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "config.heartbeats", *arguments],
        env={"PATH": os.environ["PATH"], "HEARTBEAT_DIRECTORY": str(folder)},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert "django" not in done.stderr
    return done.returncode, done.stdout


def pid_of(folder: Path, process: str, loop: str = "") -> int:
    def turning() -> int:
        pulse = read(path_of(folder, process, loop))
        return pulse.pid if pulse and not pulse.waits_for else 0

    return until(turning, what=f"a turn of {process} {loop}")


# The loops that each says of, by its process. One loop of each process is stopped at a time.
LOOPS = {
    "worker": ("worker-0", ["broadcasts.prepare", "channelconnect.read_notices"]),
    "dispatcher": ("dispatcher-0", ["webhooks.deliver"]),
    "sender": ("sender-0", ["channelconnect.send", ""]),
    "calls": ("calls-0", ["automations.call_outside"]),
    "beat": ("beat", [""]),
}


@contextmanager
def standing_still(pids: Sequence[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_loop_that_stands_still_is_found_and_one_that_goes_on_is_well(tmp_path: Path, preloaded: Preloaded) -> None:
    """In every kind of process."""

    def is_found_alone(name: str, said: str) -> bool:
        """Other loops may turn more slowly than every four seconds for a while, on a busy machine."""
        found = silent_loops(tmp_path, name, silence=4)
        return len(found) == 1 and found[0].startswith(said)

    with ExitStack() as running:
        for name in LOOPS:
            order = celery_order(name, {"HEARTBEAT_DIRECTORY": str(tmp_path)}, more=SMALLER.get(name, ()))
            running.enter_context(preloaded.asked_to_end(order))
        pids = {
            (name, loop): pid_of(tmp_path, process, loop) for name, (process, loops) in LOOPS.items() for loop in loops
        }
        assert check(tmp_path) == (0, "Everything turns.\n")
        for turn in range(2):
            stopped = {name: (process, loops[turn]) for name, (process, loops) in LOOPS.items() if turn < len(loops)}
            with standing_still([pids[name, loop] for name, (_, loop) in stopped.items()]):
                for name, (process, loop) in stopped.items():
                    said = f"{loop} of {process} has" if loop else f"{process} has not turned"
                    until(partial(is_found_alone, name, said), what=f"only {loop} of {process} to stand still")
                assert check(tmp_path, name, "--silence", "4")[0] == 1
            until(lambda: not silent_loops(tmp_path, silence=4), what="loops that go on")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_process_that_waits_for_its_broker_does_not_hang(tmp_path: Path, preloaded: Preloaded) -> None:
    given = {"HEARTBEAT_DIRECTORY": str(tmp_path), "CELERY_BROKER_URL": "redis://127.0.0.1:1/0"}

    def is_waiting(process: str) -> bool:
        pulse = read(path_of(tmp_path, process))
        return bool(pulse and pulse.waits_for == "its broker")

    with (
        preloaded.killed_at_end(celery_order("dispatcher", given)),
        preloaded.killed_at_end(celery_order("beat", given)),
    ):
        for process in ("dispatcher-0", "beat"):
            until(partial(is_waiting, process), what=f"{process} to wait for its broker")
        assert check(tmp_path, "--silence", "0") == (0, "Everything turns.\n")


def write(folder: Path, process: str, *, age: float, loop: str = "", loops: tuple[str, ...] = ()) -> None:
    """Leave a pulse that a loop of this very process has written so long ago."""
    at = time.monotonic() - age
    path_of(folder, process, loop).write_text(json.dumps(HeartbeatRecord(os.getpid(), at, at, loops)._asdict()))


@pytest.fixture
def _moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands: messages name whole seconds."""
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)


@pytest.mark.usefixtures("_moment")
def test_a_loop_is_well_for_a_minute_after_its_last_turn(tmp_path: Path) -> None:
    write(tmp_path, "worker", age=SILENCE_SECONDS / 2, loops=("a.loop",))
    assert silent_loops(tmp_path) == []
    write(tmp_path, "worker", age=SILENCE_SECONDS + 1, loops=("a.loop",))
    [said] = silent_loops(tmp_path, "worker")
    assert said.startswith("worker has not turned for 61")
    own = Heartbeat(str(tmp_path), "worker", loops=["a.loop"])
    write(tmp_path, "worker", age=1000, loop="a.loop")
    own.turn()
    assert silent_loops(tmp_path) == []  # it has just begun, and begins its loop now


@pytest.mark.usefixtures("_moment")
def test_a_loop_that_never_began_is_found(tmp_path: Path) -> None:
    began = time.monotonic() - SILENCE_SECONDS - 1
    pulse = HeartbeatRecord(os.getpid(), time.monotonic(), began, ("a.loop",))
    path_of(tmp_path, "worker").write_text(json.dumps(pulse._asdict()))
    [said] = silent_loops(tmp_path)
    assert said.startswith("a.loop of worker has not turned for 61")
    Heartbeat(str(tmp_path), "worker", loop="a.loop").turn()
    assert silent_loops(tmp_path) == []


def test_a_name_stands_for_all_that_are_numbered(tmp_path: Path) -> None:
    write(tmp_path, "dispatcher-1", age=0)
    write(tmp_path, "dispatcher-2", age=100)
    write(tmp_path, "sender-1", age=200)
    assert [said.split()[0] for said in silent_loops(tmp_path, "dispatcher")] == ["dispatcher-2"]
    assert [said.split()[0] for said in silent_loops(tmp_path)] == ["dispatcher-2", "sender-1"]


def test_what_is_no_pulse_is_none(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1]")
    assert silent_loops(tmp_path) == [f"No process has written anything into {tmp_path} yet."]
    path_of(tmp_path, "beat").write_text("[1]")
    assert silent_loops(tmp_path) == ["beat has ended."]


def test_what_has_ended_or_never_began_is_not_well(tmp_path: Path) -> None:
    assert silent_loops(tmp_path, "beat") == [f"No process named beat has written anything into {tmp_path} yet."]
    pid = os.fork()
    if pid == 0:
        Heartbeat(str(tmp_path), "beat").turn()
        os._exit(0)
    os.waitpid(pid, 0)
    assert silent_loops(tmp_path, "beat") == ["beat has ended."]


def test_a_folder_that_takes_nothing_stops_no_loop() -> None:
    Heartbeat("/nowhere/at/all", "worker").turn()
    Heartbeat("", "worker").wait_for("its broker")
    assert not Path("/nowhere").exists()
