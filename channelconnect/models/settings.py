"""Whether an agency may connect channels, and the addresses to which its customers' browsers may return."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from agency.models import Agency


class ConnectSettings(models.Model):
    """The connect settings of an agency. Only our support sets `enabled`; the agency sets the rest.

    A missing row means that it is off, without return URLs.
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="connect_settings", primary_key=True)
    enabled = models.BooleanField(default=False)
    return_urls = ArrayField(models.CharField(max_length=2048), default=list)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "connect settings"
        constraints = [
            models.CheckConstraint(condition=Q(return_urls__len__lte=20), name="connect_at_most_20_return_urls"),
        ]

    def __str__(self) -> str:
        return f"{self.agency}: {'on' if self.enabled else 'off'}"
