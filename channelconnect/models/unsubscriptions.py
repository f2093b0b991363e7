"""Subscriptions that are still to be ended at a provider."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.encryption import EncryptedTextField
from workspaces.subaccounts.models import Channel, Workspace


class Status(models.TextChoices):
    SUBSCRIBING = "subscribing", _("Being subscribed for a choice")
    WAITING = "waiting", _("To be taken back")
    UNSUBSCRIBED = "unsubscribed", _("Taken back")
    STILL_USED = "still_used", _("Kept: another channel uses it")
    REFUSED = "refused", _("Refused by the provider")
    GIVEN_UP = "given_up", _("Given up")


class Reason(models.TextChoices):
    DISCONNECTED = "disconnected", _("The channel was disconnected")
    MOVED = "moved", _("The account came back in another container")
    NOT_SAVED = "not_saved", _("The choice was not saved")


OPEN = (Status.SUBSCRIBING, Status.WAITING)


class Unsubscription(models.Model):
    """A subscription at the provider without a channel: it has none yet (`subscribing`), or none any more.

    `container_id` is the WhatsApp business account or the Page that sends us messages; several channels may share it.
    While a customer's choice is being saved the row waits until `due_at` for its channel, which removes the row. After
    that a task ends the subscription. `in_flight_until` is when a running call has certainly ended. The token is erased
    when the row ends.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="unsubscriptions")
    channel = models.ForeignKey(Channel, null=True, on_delete=models.PROTECT, related_name="unsubscriptions")
    connection_id = models.UUIDField(null=True)
    platform = models.CharField(max_length=20)
    container_id = models.CharField(max_length=100)
    token = EncryptedTextField(bound_to="uuid", null=True)
    reason = models.CharField(max_length=20, choices=Reason)
    status = models.CharField(max_length=20, choices=Status)
    fault = models.CharField(max_length=60, blank=True)
    tries = models.SmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField()
    in_flight_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], condition=Q(status__in=OPEN), name="unsubscription_due"),
            models.Index(fields=["container_id"], condition=Q(status__in=OPEN), name="unsubscription_of_container"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=Status.values), name="unsubscription_status_is_known"),
            models.CheckConstraint(condition=Q(reason__in=Reason.values), name="unsubscription_reason_is_known"),
            models.CheckConstraint(
                condition=Q(status__in=OPEN, ended_at=None) | (~Q(status__in=OPEN) & Q(ended_at__isnull=False)),
                name="unsubscription_end_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(status__in=OPEN) | Q(token=None), name="unsubscription_end_forgets_the_token"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.platform} {self.container_id}: {self.status}"
