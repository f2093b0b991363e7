"""The database as it was when it was last confirmed."""

from django.db import models
from django.db.models import Q


class DatabaseIdentity(models.Model):
    """The confirmed database, in one row. A restored one has another server, another timeline, or a row written anew.

    `written_by` is the transaction that wrote this row. After a dump is restored, another transaction has written it.
    `timeline` is PostgreSQL's; a promoted standby and a restore to a moment begin a new one. `doubted_at` is when a
    worker found that the database lies behind the position that Redis knows, as a copy of a disk does.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    system_identifier = models.BigIntegerField()
    timeline = models.BigIntegerField()
    written_by = models.BigIntegerField()
    confirmed_at = models.DateTimeField()
    doubted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="database_has_one_identity")]
        verbose_name_plural = "database identities"

    def __str__(self) -> str:
        return f"server {self.system_identifier}, timeline {self.timeline}"
