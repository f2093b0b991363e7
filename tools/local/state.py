"""The state folder, which holds all data of one checkout's servers, and its lock."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tools.local.errors import AlreadyRunning

LOCK = "lock"
RUN = "run.json"
SECRETS = "secrets.json"
BOOTSTRAP = "bootstrap.json"
# `is_held` takes the lock for an instant. That must not refuse a start, so a start waits this long.
LOCK_SECONDS = 0.3


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically; only its owner can read it."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.rename(path)


def open_log(path: Path) -> IO[bytes]:
    """Begin a log anew; only its owner can read it."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb")


def read_json(path: Path) -> dict[str, Any]:
    """Give the JSON object in a file; an empty one if the file is missing or half written."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def held(state: Path) -> Iterator[Path]:
    """Hold the state folder and give its absolute path; make it if it is missing.

    The lock is free as soon as this process ends, even if it is killed. Raises `AlreadyRunning` if another process
    holds the folder.
    """
    state = state.absolute()
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(state / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not take_lock(lock, LOCK_SECONDS):
            raise AlreadyRunning(
                f"The system is already running from this checkout (its data in {state} are in use). "
                "Stop the other one first, or use another checkout."
            )
        yield state
    finally:
        os.close(lock)


def take_lock(lock: int, seconds: float) -> bool:
    """Lock an open file, waiting at most so many seconds; say whether that worked."""
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        else:
            return True


def is_held(state: Path) -> bool:
    """Say whether a process holds the state folder now."""
    try:
        lock = os.open(state / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not take_lock(lock, 0)
    finally:
        os.close(lock)


def running_variables(state: Path) -> dict[str, str]:
    """Give the environment variables of the system that runs on this state folder; none if no system runs."""
    found = read_json(state / RUN).get("env", {}) if is_held(state) else {}
    return {name: str(value) for name, value in found.items()}


@contextmanager
def throwaway(base: Path) -> Iterator[Path]:
    """Hold an empty folder: `base`, or `base` with a number if that is in use. It is emptied afterwards."""
    number = 1
    while True:
        folder = base if number == 1 else base.with_name(f"{base.name}-{number}")
        try:
            with held(folder) as state:
                empty(state)
                try:
                    yield state
                finally:
                    empty(state)
                return
        except AlreadyRunning:
            number += 1


def empty(state: Path) -> None:
    for path in state.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
