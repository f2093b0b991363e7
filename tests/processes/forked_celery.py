"""A worker of the plan, or beat, for `tests.processes.preloaded`."""

import sys

from celery.__main__ import main as celery

from tests.processes.own_processes import celery_arguments


def main(name: str, *more: str) -> None:
    """Do as the plan's command does, with more arguments at its end."""
    arguments = celery_arguments(name)
    sys.argv = [*arguments[arguments.index("-m") + 1 :], *more]
    try:
        celery()
    except SystemExit as ended:
        if ended.code:
            raise
