"""The number of people that a WhatsApp number, or a whole business portfolio, may write to first in any 24 hours."""

from django.db import models
from django.db.models import Q


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
