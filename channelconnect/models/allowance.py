"""How many people a WhatsApp number, or a whole business portfolio, may write to first in any 24 hours."""

from django.db import models
from django.db.models import Q


class Allowance(models.Model):
    """A number's or a portfolio's own row: a sender that takes from it locks it. `used` is how many uses there are.

    `key` is `portfolio:` and the provider's id where it is known, else `number:` and the number's. Until
    `reserved_until`, broadcasts leave `reserved` people to answers in conversations that found no room. Until
    `full_until` nobody new is written to: a restored database has forgotten whom it wrote to.
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
    """Somebody who was written to outside a customer-service window; forgotten 24 hours after the last time.

    `sends` is how many messages count on it: when the last of them has failed, it is forgotten at once.
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
