"""A worker of the plan, or beat, for `tests.processes.preloaded`."""

import sys
from collections.abc import Mapping, Sequence

from celery.__main__ import main as celery

from tests.processes.own_processes import celery_arguments
from tests.processes.preloaded import Order


def main(*arguments: str) -> None:
    """Do as this command does; the arguments are those after `python`."""
    sys.argv = [*arguments[arguments.index("-m") + 1 :]]
    try:
        celery()
    except SystemExit as ended:
        if ended.code:
            raise


def celery_order(
    name: str, settings: Mapping[str, object] | None = None, *, number: int = 0, more: Sequence[str] = ()
) -> Order:
    """Order a worker of the plan by name, or beat, with more arguments at the end of its command."""
    return Order(__name__, (*celery_arguments(name, number=number), *more), settings or {})
