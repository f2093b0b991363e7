"""Celery tasks of contacts."""

from celery import shared_task

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from workspaces.contacts.services.counting import merge_counts as merge_next_counts
from workspaces.contacts.services.counting import recount_segments as recount_next_segments
from workspaces.contacts.services.counting import segments_to_recount
from workspaces.contacts.services.file_imports import RETENTION_RULES, import_next_piece, running_imports
from workspaces.contacts.services.tasks import TASK_RULES

RUN_SECONDS = 20.0

due_work.add(
    DueWork("contacts.import_files", (running_imports,)), DueWork("contacts.recount_segments", (segments_to_recount,))
)


@shared_task(name="contacts.import_files")
@one_at_a_time
def import_files() -> None:
    """Import the waiting pieces of uploaded files."""
    in_batches(lambda: import_next_piece(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="contacts.forget_records")
@one_at_a_time
def forget_records() -> None:
    """Delete old imports that were never started or have ended, and tasks that were done long ago, in batches."""
    in_batches(lambda: forget([*RETENTION_RULES, *TASK_RULES]), seconds=HOUSEKEEPING_SECONDS)


@shared_task(name="contacts.merge_counts")
@one_at_a_time
def merge_counts() -> None:
    """Merge the rows of `ContactFacetCount`, so that segments stay fast to count."""
    in_batches(merge_next_counts, seconds=HOUSEKEEPING_SECONDS)


@shared_task(name="contacts.recount_segments")
@one_at_a_time
def recount_segments() -> None:
    """Recount the segments whose stored numbers are too old, one workspace at a time."""
    in_batches(recount_next_segments, seconds=HOUSEKEEPING_SECONDS)
