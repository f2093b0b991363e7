"""Forms that make something and were sent: what keeps a second submit from making it twice."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class SentForm(models.Model):
    """Written in the transaction of what the form makes; `landing` is the address that its sender was led to.

    The unique nonce is the rule: a second submit waits for the first, then finds where that one went.
    """

    nonce = models.CharField(max_length=32)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+")
    landing = models.CharField(max_length=500, blank=True)
    sent_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "nonce"], name="form_sent_once")]

    def __str__(self) -> str:
        return f"form of {self.user}"
