"""Fleet-wide switches, which support sets; each surface reads its own on every request."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Switch(models.Model):
    """One switch; a missing row means on."""

    class Name(models.TextChoices):
        AGENCY_API = "agency_api", _("Reseller API")
        WORKSPACE_API = "workspace_api", _("Workspace API")

    name = models.CharField(max_length=40, primary_key=True, choices=Name)
    enabled = models.BooleanField(default=True)
    reason = models.CharField(max_length=500, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "switches"

    def __str__(self) -> str:
        return f"{self.get_name_display()}: {'on' if self.enabled else 'off'}"
