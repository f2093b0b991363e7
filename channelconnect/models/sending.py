"""The running senders, and the limits that the provider makes them keep."""

from django.db import models

from config.leases.runs import QueueShard, WorkerRun


class SenderRun(WorkerRun):
    """A running sender."""


class SenderShard(QueueShard):
    """A share of all channels. One sender at a time serves it, so a number's limits hold across all senders."""


class ProviderBrake(models.Model):
    """A limit for all senders, set when the provider accepts no more calls of an app or an account, or soon will not.

    `scope` is `app` or the account's id at the provider. `share` is the part of the earlier rate that may be sent once
    `stopped_until` has passed.
    """

    scope = models.CharField(max_length=100, primary_key=True)
    share = models.FloatField()
    pulled_at = models.DateTimeField()
    stopped_until = models.DateTimeField()
    pulls = models.BigIntegerField()

    def __str__(self) -> str:
        return f"brake of {self.scope}"
