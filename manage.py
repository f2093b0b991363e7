#!/usr/bin/env python3
"""Runs the product's commands; finds the servers of a running `make run` by itself."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

VENV = Path(__file__).absolute().parent / ".venv"


def main() -> None:
    use_python_of_make()
    from tools.local import discovery

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    discovery.load()
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))


def use_python_of_make() -> None:
    """Go on in the virtual environment that `make` furnished, where this Python has no Django."""
    python = VENV / "bin" / "python"
    if find_spec("django") is None and python.exists() and Path(sys.prefix) != VENV:
        os.execv(python, [str(python), *sys.argv])  # noqa: S606 - no shell is meant to come between


if __name__ == "__main__":
    main()
