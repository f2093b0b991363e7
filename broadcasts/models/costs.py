"""Message costs: the rates that an installation has entered, and the messages that the provider has billed."""

from django.db import models
from django.db.models import Q


class Rate(models.Model):
    """The price of one delivered message from a day on, by its category and the recipient's market.

    `market` is a country code, or a rate card's name for several countries. The newest valid rate counts.
    """

    currency = models.CharField(max_length=3)
    category = models.CharField(max_length=40)
    market = models.CharField(max_length=60)
    valid_from = models.DateField()
    price = models.DecimalField(max_digits=12, decimal_places=6)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["currency", "category", "market", "valid_from"], name="rate_once_per_market_and_day"
            ),
            models.CheckConstraint(condition=Q(price__gte=0), name="rate_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.category} to {self.market} from {self.valid_from}: {self.price} {self.currency}"


class BilledCount(models.Model):
    """The number of a broadcast's messages that the provider billed in a month, by category and market."""

    broadcast_id = models.BigIntegerField()
    month = models.DateField()
    category = models.CharField(max_length=40)
    market = models.CharField(max_length=60, blank=True)
    is_billable = models.BooleanField()
    number = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["broadcast_id", "month", "category", "market", "is_billable"], name="billed_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.category} of broadcast {self.broadcast_id} in {self.month:%Y-%m}"
