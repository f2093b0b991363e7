"""Files in the storage that have no `Media` row."""

from django.db import models


class UnusedFile(models.Model):
    """A file to remove from the storage once it is due.

    The row of a new file is committed before the file is stored, and deleted by the transaction that adds its `Media`.
    A crash in between leaves the row, so that the file is removed later. The row of a removed file is added when its
    `Media` is deleted.
    """

    storage_name = models.CharField(max_length=200, unique=True)
    due_at = models.DateTimeField()
    tries = models.SmallIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["due_at", "id"], name="unused_file_due")]

    def __str__(self) -> str:
        return self.storage_name
