"""Jobs: work that a person has asked for and that runs in the background; the fields that all jobs share."""

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
    """A job that `created_by` asked for in the console, for their agency alone.

    `query` holds the list's filters, as they stood in its address. `cursor` is how far the list has been read.
    `stopped_because` is a sentence. `address` and `request_id` are those of the request that asked for the job.
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
        """Whether the job has not ended yet."""
        return self.state in ACTIVE

    @property
    def actor(self) -> Actor:
        """The person who asked for the job, with the address and the id of their request."""
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
        """Return the columns that record who asks."""
        return {"created_by_id": int(by.id), "address": by.address, "request_id": by.request_id}
