"""Files in the storage that no row stands for."""

from django.db import models


class UnusedFile(models.Model):
    """A file that is to be removed from the storage once it is due.

    The row of one that is being stored is committed before the storage hears of it and ends with the transaction that
    adds its `Media`, so that whatever dies in between leaves a row to go by; that of a removed one comes with the
    removal.
    """

    storage_name = models.CharField(max_length=200, unique=True)
    due_at = models.DateTimeField()
    tries = models.SmallIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["due_at", "id"], name="unused_file_due")]

    def __str__(self) -> str:
        return self.storage_name
