"""Starts a new, durable PostgreSQL and Valkey for one run, and removes them afterwards."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.local import ROOT
from tools.local.servers.starting import started_servers
from tools.local.state import throwaway
from tools.local.variables import development_variables

STATE = ROOT / ".local-bench"
PLENTY = str(10**9)


@dataclass(frozen=True)
class Bench:
    """The folder of the run and the process ids of its servers."""

    folder: Path
    pids: dict[str, int]


@contextmanager
def bench() -> Iterator[Bench]:
    """Start the servers, set the environment and migrate. Use Django only after this."""
    for name in ("DATABASE_URL", "REDIS_URL"):  # never measure on other servers, and never write to them
        os.environ.pop(name, None)
    with throwaway(STATE) as folder, started_servers(folder, durable=True) as servers:
        os.environ |= {
            **development_variables(folder, port=0),
            **servers.env,
            "ENVIRONMENT": "development",
            "LOG_FORMAT": "json",
            "AGENCY_KEY_LIMIT": PLENTY,  # calls are counted, but never refused
        }
        _set_up()
        yield Bench(folder, {name: process.pid for name, process in servers.processes.items()})


def _set_up() -> None:
    import logging

    import django

    arguments, sys.argv = sys.argv, ["manage.py", "bench"]  # a maintenance command may take a minute for a statement
    django.setup()
    sys.argv = arguments
    from django.core.management import call_command

    for handler in logging.root.handlers:
        if isinstance(handler, logging.StreamHandler):  # log lines are formatted as usual and then discarded
            handler.setStream(open(os.devnull, "w"))  # noqa: SIM115  # stays open to the end of the run
    call_command("migrate", verbosity=0)
