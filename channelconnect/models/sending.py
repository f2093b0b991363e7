"""Tables of the sender: its runs, the provider's limits, allowances of new people, uploaded files."""

from django.db import models
from django.db.models import Q

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


class Allowance(models.Model):
    """The row of a number or a portfolio, which a sender locks to use its room. `used` is the number of uses.

    `key` is `portfolio:` and the provider's id if it is known, otherwise `number:` and the number's id. Until
    `reserved_until`, broadcasts leave room for `reserved` people to conversations' answers that found none. Until
    `full_until` nobody new is written to, because a restored database does not know its latest uses.
    """

    key = models.CharField(max_length=120, unique=True)
    used = models.IntegerField(default=0)
    reserved = models.IntegerField(default=0, db_default=0)
    reserved_until = models.DateTimeField(null=True)
    full_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(used__gte=0), name="allowance_use_is_not_negative")]

    def __str__(self) -> str:
        return self.key


class AllowanceUse(models.Model):
    """A person who was written to outside a customer-service window. The row is deleted 24 hours after the last time.

    `sends` is the number of messages that it counts. When the last of them has failed, the row is deleted at once.
    """

    allowance = models.ForeignKey(Allowance, on_delete=models.CASCADE, related_name="uses", db_index=False)
    address = models.CharField(max_length=160)
    last_at = models.DateTimeField()
    sends = models.IntegerField(default=1, db_default=1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["allowance", "address"], name="allowance_use_once_per_person")]
        indexes = [models.Index(fields=["allowance", "last_at"], name="allowance_use_oldest")]

    def __str__(self) -> str:
        return f"use of allowance {self.allowance_id} at {self.last_at}"


class MediaUpload(models.Model):
    """A file uploaded to WhatsApp for a number's messages. `provider_id` names it there for 30 days."""

    channel_id = models.BigIntegerField()
    media_id = models.BigIntegerField()
    provider_id = models.CharField(max_length=100)
    uploaded_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel_id", "media_id"], name="media_upload_once_per_channel")]

    def __str__(self) -> str:
        return f"file {self.media_id} at the provider of channel {self.channel_id}"
