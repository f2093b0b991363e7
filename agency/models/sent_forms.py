"""Sent forms that create something; they keep a second submit from creating it twice."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class SentForm(models.Model):
    """A sent form, written in the transaction of what it creates; its sender was redirected to the address `landing`.

    The nonce is unique for each user. A second submit waits for the first, then redirects to the same address.
    """

    nonce = models.CharField(max_length=32)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+")
    landing = models.CharField(max_length=500, blank=True)
    sent_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "nonce"], name="form_sent_once")]

    def __str__(self) -> str:
        return f"form of {self.user}"
