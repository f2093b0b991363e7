"""Work that a person has asked for and that goes on without them, and what every such job knows."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.actors import Actor
from agency.models.agencies import Agency

ACTIVE = ("waiting", "running")


class Job(models.Model):
    """Asked for in the console by `created_by`, for their agency alone.

    `query` has the filters of the list, as they stood in its address. `cursor` is where reading the list has come to.
    `stopped_because` is a sentence; `address` and `request_id` are those of the request that asked for it.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        CANCELLED = "cancelled", _("Cancelled")
        STOPPED = "stopped", _("Stopped")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=60)
    query = models.TextField(blank=True)
    cursor = models.JSONField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    stopped_because = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=45, blank=True)
    request_id = models.CharField(max_length=128, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        """Whether it goes on."""
        return self.state in ACTIVE

    @property
    def actor(self) -> Actor:
        """The person who asked for it, as the request said it."""
        user = self.created_by
        return Actor(
            kind="user",
            id=str(user.pk),
            label=user.get_username(),
            address=self.address,
            request_id=self.request_id,
        )

    @staticmethod
    def asked_by(by: Actor) -> dict[str, Any]:
        """Give the columns that say who asks."""
        return {"created_by_id": int(by.id), "address": by.address, "request_id": by.request_id}
