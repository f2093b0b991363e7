"""Hourly counts of ended deliveries."""

from django.db import models

from webhooks.models.endpoints import Endpoint


class HourlyStats(models.Model):
    """The ended deliveries of one endpoint in one hour. The statement that ends them also counts them."""

    pk = models.CompositePrimaryKey("endpoint_id", "hour")
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="hourly_stats"
    )
    hour = models.DateTimeField()
    successes = models.IntegerField(default=0)
    errors = models.IntegerField(default=0)

    class Meta:
        verbose_name_plural = "hourly stats"
        indexes = [models.Index(fields=["hour"], name="hourly_stats_by_age")]

    def __str__(self) -> str:
        return f"{self.successes} and {self.errors} of {self.endpoint_id} at {self.hour}"
