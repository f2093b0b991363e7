"""Records that a workspace has had its one chance of a starter pack."""

from django.db import models
from django.utils import timezone

from workspaces.subaccounts.models import Workspace


class StarterPack(models.Model):
    """Written when the first messaging channel is connected. `pack` is None if no pack could be given."""

    workspace = models.OneToOneField(Workspace, primary_key=True, on_delete=models.CASCADE, related_name="starter_pack")
    pack = models.UUIDField(null=True, blank=True)
    given_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"starter pack of {self.workspace}"
