"""Who sends messages at the moment, and what the provider has slowed down."""

from django.db import models

from config.leases.models import QueueShard, WorkerRun


class SenderRun(WorkerRun):
    """A sender at work."""


class SenderShard(QueueShard):
    """A share of all channels, served by one sender at a time: so the limits of a number hold over all of them."""


class ProviderBrake(models.Model):
    """What all senders hold back, as the provider takes no more, or will soon take no more, of an app or an account.

    `scope` is `app` or the account's id there, `share` what goes of what went before, once it is stopped no longer.
    """

    scope = models.CharField(max_length=100, primary_key=True)
    share = models.FloatField()
    pulled_at = models.DateTimeField()
    stopped_until = models.DateTimeField()
    pulls = models.BigIntegerField()

    def __str__(self) -> str:
        return f"brake of {self.scope}"
