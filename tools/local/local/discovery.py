"""Lets commands in another terminal find the servers of a running system."""

import os
from pathlib import Path

from tools.local.state import RUN, is_held, read_json

from tools.local import STATE


def running_variables(state: Path = STATE) -> dict[str, str]:
    """Give the environment variables of the system that runs on this state folder, if one does."""
    found = read_json(state / RUN).get("env", {}) if is_held(state) else {}
    return {name: str(value) for name, value in found.items()}


def load(state: Path = STATE) -> None:
    """Put a running system's variables into the environment, unless a database is named there already."""
    if not os.environ.get("DATABASE_URL"):
        os.environ.update({name: value for name, value in running_variables(state).items() if not os.environ.get(name)})
