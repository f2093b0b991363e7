"""That a workspace had its chance of a starter pack, which comes once."""

from django.db import models
from django.utils import timezone

from workspaces.subaccounts.models import Workspace


class StarterPack(models.Model):
    """Written with the first messaging channel; `pack` is empty where there was none to give."""

    workspace = models.OneToOneField(Workspace, primary_key=True, on_delete=models.CASCADE, related_name="starter_pack")
    pack = models.UUIDField(null=True, blank=True)
    given_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"starter pack of {self.workspace}"
