"""Says whether the loops of this host's workers and of beat turn: `python -m config.heartbeats [NAME]`.

Each loop writes a small file into `HEARTBEAT_DIRECTORY` every two seconds. The check reads these alone: it loads no
Django, and its answer does not hang on whether PostgreSQL or Redis is there.
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
# A loop that has not turned for so long hangs: no turn of a healthy one takes half of it.
SILENCE_SECONDS = 60.0
VARIABLE = "HEARTBEAT_DIRECTORY"


class Pulse(NamedTuple):
    """What a loop wrote last; `at` and `began_at` are of the host's steady clock.

    `loops` names the loops of its pool that a worker keeps running; `waits_for` says for what it does not turn now.
    """

    pid: int
    at: float
    began_at: float
    loops: tuple[str, ...] = ()
    waits_for: str = ""


class Heartbeat:
    """The file of a loop: of the process itself, or of one that runs in its pool. Without a folder none is written."""

    def __init__(self, directory: str, process: str, *, loop: str = "", loops: Sequence[str] = ()) -> None:
        self._path = path_of(Path(directory), process, loop) if directory else None
        self._loops = tuple(loops)
        self._began_at = time.monotonic()
        self._written_at = float("-inf")

    def turn(self) -> None:
        """Say that the loop turns; written down every two seconds at most."""
        if self._path and time.monotonic() - self._written_at >= EVERY_SECONDS:
            self._write("")

    def wait_for(self, what: str) -> None:
        """Say that the loop stands still until something that is away is back, as it should."""
        self._write(what)

    def end(self) -> None:
        """Leave nothing behind."""
        if self._path:
            with suppress(OSError):
                self._path.unlink()

    def _write(self, waits_for: str) -> None:
        if self._path is None:
            return
        self._written_at = time.monotonic()
        pulse = Pulse(os.getpid(), self._written_at, self._began_at, self._loops, waits_for)
        new = self._path.with_suffix(".new")
        # A full disk stops no loop; the check finds that nothing is written.
        with suppress(OSError):
            new.write_text(json.dumps(pulse._asdict()))
            new.replace(self._path)


def path_of(directory: Path, process: str, loop: str = "") -> Path:
    return directory / f"{process}{'+' if loop else ''}{loop}.pulse"


def read(path: Path) -> Pulse | None:
    try:
        found = json.loads(path.read_text())
        return Pulse(found["pid"], found["at"], found["began_at"], tuple(found["loops"]), found["waits_for"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def faults(directory: Path, name: str = "", *, silence: float = SILENCE_SECONDS) -> list[str]:
    """Say in a sentence each what does not turn among the processes of a name (`dispatcher` means all of them)."""
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
            # A worker begins its loops when it is ready; one that was there before it began is its predecessor's.
            last = max(turned.at if turned else pulse.began_at, pulse.began_at)
            if now - last > silence:
                yield f"{loop} of {process} has not turned for {now - last:.0f} s."


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, and there
        return True
    return True


def main() -> int:
    """Print what does not turn; the status is 0 where everything does."""
    parser = ArgumentParser(prog="python -m config.heartbeats", description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="worker, mail, dispatcher, beat …; without it all")
    parser.add_argument(
        "--silence", type=float, default=SILENCE_SECONDS, help="seconds without a turn that are one too many"
    )
    asked = parser.parse_args()
    directory = os.environ.get(VARIABLE, "")
    found = faults(Path(directory), asked.name, silence=asked.silence) if directory else [f"{VARIABLE} is not set."]
    sys.stdout.write("".join(f"{fault}\n" for fault in found) or "Everything turns.\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
