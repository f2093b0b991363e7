"""Who sends messages at the moment."""

from config.leases.models import QueueShard, WorkerRun


class SenderRun(WorkerRun):
    """A sender at work."""


class SenderShard(QueueShard):
    """A share of all channels, served by one sender at a time: so the limits of a number hold over all of them."""
