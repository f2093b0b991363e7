"""Clocks that are wrong: those of the product's hosts, and one that was put back."""

from django.db import connection

from tests.chaos.faults import processes
from tests.chaos.workload import Workload


def put_back_an_hour(workload: Workload) -> None:
    """Leave what a database's clock leaves that is put back an hour, then kill the dispatcher.

    PostgreSQL's own clock cannot be turned here: instead the times of the dispatchers at work are an hour ahead.
    """
    if not workload.has_traffic():
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE webhooks_dispatcherrun SET started_at = started_at + interval '1 hour', "
            "seen_at = seen_at + interval '1 hour'"
        )
        workload.injections.count("clock put back", happened=cursor.rowcount > 0)
    processes.kill(workload, "dispatcher child")


def count_skewed(workload: Workload, expected: int) -> None:
    """Count the processes that have said that their clock is wrong."""
    reports = {path.name.split(".")[0] for path in workload.system.reports.glob("clock-*")}
    for number in range(expected):
        workload.injections.count("wrong clock", happened=number < len(reports))
