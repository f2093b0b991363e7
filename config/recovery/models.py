"""The database as it was when it was confirmed to be the one to work with."""

from django.db import models
from django.db.models import Q


class DatabaseIdentity(models.Model):
    """One row. A restored database shows by one of three: another server, another timeline, a row written anew.

    `written_by` is the transaction that wrote this row: what a dump brings back was written by another one. `timeline`
    is PostgreSQL's, which a promoted standby and a restore to a moment begin anew. `doubted_at` is when a worker found
    that the database lies behind what Redis knows of it, as a copy of a disk does.
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
