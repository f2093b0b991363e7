"""The task that removes unused files."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from workspaces.media.services import remove_next_unused_file
from workspaces.media.services.files import due_unused_files

# Together with the longest wait for a storage, this stays below the queue's time limit.
RUN_SECONDS = 60.0

due_work.add(DueWork("media.remove_unused_files", (lambda: due_unused_files(Now()),)))


@shared_task(name="media.remove_unused_files")
@one_at_a_time
def remove_unused_files() -> None:
    """Remove the due files without `Media` rows from the storage, one after another."""
    in_batches(remove_next_unused_file, seconds=RUN_SECONDS)
