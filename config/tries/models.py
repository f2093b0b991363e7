"""Work that has begun and has not ended."""

from django.db import models


class BegunWork(models.Model):
    """A piece of work that is under way, or whose process died. `tries` counts its tries in a row.

    The row is deleted when the work ends. For some work it stays if the work failed by an exception. `set_aside_at` is
    when the work was given up.
    """

    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=100)
    tries = models.SmallIntegerField(default=1)
    begun_at = models.DateTimeField()
    set_aside_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="begun_work_once")]
        indexes = [models.Index(fields=["begun_at"], name="begun_work_oldest")]
        verbose_name_plural = "begun work"

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
