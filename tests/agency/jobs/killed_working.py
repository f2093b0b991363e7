"""Does what waits, killed at each of its statements: for `tests.processes.preloaded`."""

from agency.models import BulkOperation, Export
from agency.services.bulk import run_batch
from agency.services.exports import write_next_part
from config.db import database_now
from tests.processes.killed_at_statements import kill_at_each_statement

CHUNK = 2
BATCH = 2


def work() -> None:
    """Do all that waits, in the smallest pieces."""
    for operation in BulkOperation.objects.order_by("pk"):
        while run_batch(operation.pk, now=database_now(), chunk=CHUNK, batch=BATCH):
            pass
    for export in Export.objects.order_by("pk"):
        while write_next_part(export.pk, now=database_now(), size=CHUNK):
            pass


def main() -> None:
    kill_at_each_statement(work)
