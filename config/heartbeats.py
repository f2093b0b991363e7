"""Says whether the loops of this host's workers and of beat still turn: `python -m config.heartbeats [NAME]`.

Each loop writes a small file into `HEARTBEAT_DIRECTORY` every two seconds. The check reads only these files. It does
not load Django, and its answer does not depend on PostgreSQL or Redis.
"""

import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

EVERY_SECONDS = 2.0
# A loop that has not turned for this long hangs. A turn of a healthy loop takes less than half of it.
SILENCE_SECONDS = 60.0
VARIABLE = "HEARTBEAT_DIRECTORY"


class HeartbeatRecord(NamedTuple):
    """The last state that a loop wrote. `at` and `began_at` are by the host's monotonic clock.

    `loops` names the loops that a worker keeps running in its pool. `waits_for` names what a stopped loop waits for.
    """

    pid: int
    at: float
    began_at: float
    loops: tuple[str, ...] = ()
    waits_for: str = ""


class Heartbeat:
    """The heartbeat file of a process's own loop, or of a loop in its pool. Without a directory nothing is written."""

    def __init__(self, directory: str, process: str, *, loop: str = "", loops: Sequence[str] = ()) -> None:
        self._path = path_of(Path(directory), process, loop) if directory else None
        self._loops = tuple(loops)
        self._began_at = time.monotonic()
        self._written_at = float("-inf")

    def turn(self) -> None:
        """Record that the loop turns, at most every two seconds."""
        if self._path and time.monotonic() - self._written_at >= EVERY_SECONDS:
            self._write("")

    def wait_for(self, what: str) -> None:
        """Record that the loop rightly stands still until something that is away comes back."""
        self._write(what)

    def end(self) -> None:
        """Remove the file."""
        if self._path:
            with suppress(OSError):
                self._path.unlink()

    def _write(self, waits_for: str) -> None:
        if self._path is None:
            return
        self._written_at = time.monotonic()
        pulse = HeartbeatRecord(os.getpid(), self._written_at, self._began_at, self._loops, waits_for)
        new = self._path.with_suffix(".new")
        # A full disk must not stop the loop. The check notices that nothing is written.
        with suppress(OSError):
            new.write_text(json.dumps(pulse._asdict()))
            new.replace(self._path)


def path_of(directory: Path, process: str, loop: str = "") -> Path:
    return directory / f"{process}{'+' if loop else ''}{loop}.pulse"


def read(path: Path) -> HeartbeatRecord | None:
    try:
        found = json.loads(path.read_text())
        return HeartbeatRecord(found["pid"], found["at"], found["began_at"], tuple(found["loops"]), found["waits_for"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def silent_loops(directory: Path, name: str = "", *, silence: float = SILENCE_SECONDS) -> list[str]:
    """Return one sentence for each loop that does not turn.

    `name` selects processes: `dispatcher` selects `dispatcher` and every `dispatcher-…`. Without a name all are
    checked.
    """
    processes = sorted(path.stem for path in directory.glob("*.pulse") if "+" not in path.stem)
    chosen = [process for process in processes if not name or process == name or process.startswith(f"{name}-")]
    if not chosen:
        return [f"No process{name and f' named {name}'} has written anything into {directory} yet."]
    return [fault for process in chosen for fault in _faults_of(directory, process, silence)]


def _faults_of(directory: Path, process: str, silence: float) -> Iterator[str]:
    now, pulse = time.monotonic(), read(path_of(directory, process))
    if pulse is None or not _is_there(pulse.pid):
        yield f"{process} has ended."
    elif pulse.waits_for:
        return
    elif now - pulse.at > silence:
        yield f"{process} has not turned for {now - pulse.at:.0f} s."
    else:
        for loop in pulse.loops:
            turned = read(path_of(directory, process, loop))
            # A worker starts its loops when it is ready. A file from before the worker began is its predecessor's.
            last = max(turned.at if turned else pulse.began_at, pulse.began_at)
            if now - last > silence:
                yield f"{loop} of {process} has not turned for {now - last:.0f} s."


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # the process is there, but belongs to another user
        return True
    return True


def main() -> int:
    """Print each loop that does not turn. The exit status is 0 if all turn."""
    parser = ArgumentParser(prog="python -m config.heartbeats", description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="worker, mail, dispatcher, beat …; without it all")
    parser.add_argument(
        "--silence", type=float, default=SILENCE_SECONDS, help="seconds without a turn that are one too many"
    )
    asked = parser.parse_args()
    directory = os.environ.get(VARIABLE, "")
    found = (
        silent_loops(Path(directory), asked.name, silence=asked.silence) if directory else [f"{VARIABLE} is not set."]
    )
    sys.stdout.write("".join(f"{fault}\n" for fault in found) or "Everything turns.\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
