"""Web Push: the keys of hosts, the browsers that show alerts, and the alerts that wait to be sent to them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agency.models.agencies import Agency
from agency.models.branding import LONGEST_HOST
from agency.models.notifications import NotificationEvent
from config.encryption import EncryptedTextField

LONGEST_ENDPOINT = 1_000
# A `Topic` header may have so many characters (RFC 8030).
LONGEST_TOPIC = 32


class VapidKey(models.Model):
    """The key pair by which push services know one of our hosts (RFC 8292). Both keys are base64url."""

    host = models.CharField(max_length=LONGEST_HOST, unique=True, editable=False)
    public_key = models.CharField(max_length=87, editable=False)
    private_key = EncryptedTextField(bound_to="host")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"VAPID key of {self.host}"


class PushSubscription(models.Model):
    """A browser in which a person wants to see alerts, for as long as the session with `session_key` lasts.

    With `agency` it was made on that agency's host, and shows alerts of this agency only. `service` names the push
    service, by which its calls are limited. `failures` counts the calls in a row that failed.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="push_subscriptions")
    key = models.ForeignKey(VapidKey, on_delete=models.CASCADE, related_name="+", db_index=False)
    agency = models.ForeignKey(Agency, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    session_key = models.CharField(max_length=40, editable=False)
    endpoint = models.CharField(max_length=LONGEST_ENDPOINT, unique=True, editable=False)
    service = models.CharField(max_length=LONGEST_HOST, editable=False)
    p256dh = models.CharField(max_length=87, editable=False)
    auth = models.CharField(max_length=22, editable=False)
    browser = models.CharField(max_length=60)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(default=timezone.now, editable=False)
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(endpoint__startswith="https://"), name="push_subscription_endpoint_is_https"
            )
        ]
        indexes = [
            models.Index(fields=["session_key"], name="push_subscription_of_session"),
            models.Index(fields=["last_used_at"], name="push_subscription_by_use"),
        ]

    def __str__(self) -> str:
        return f"{self.browser} of {self.user_id}"


class QueuedPush(models.Model):
    """An alert that waits to be sent to one browser, or that was sent a moment ago.

    A browser shows one alert of a `topic`, and has one row of it. `kind` says what writes the alert. A notification's
    row names its `event`; in others `object_id` says what the alert is about. A row with `sent_at` keeps further alerts
    of its topic back until it is due; `again` says that there were any. `service` is the subscription's, by which the
    alerts are taken.
    """

    subscription = models.ForeignKey(PushSubscription, on_delete=models.CASCADE, db_index=False, related_name="pushes")
    service = models.CharField(max_length=LONGEST_HOST)
    topic = models.CharField(max_length=LONGEST_TOPIC)
    kind = models.CharField(max_length=60)
    event = models.ForeignKey(NotificationEvent, null=True, on_delete=models.CASCADE, related_name="+")
    object_id = models.CharField(max_length=64, blank=True, db_default="")
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    sent_at = models.DateTimeField(null=True)
    again = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name_plural = "queued pushes"
        constraints = [
            models.UniqueConstraint(fields=["subscription", "topic"], name="queued_push_once_per_topic"),
            models.CheckConstraint(
                condition=Q(again=False) | Q(sent_at__isnull=False), name="queued_push_again_was_sent"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at", "id"], name="queued_push_due"),
            models.Index(fields=["service", "due_at", "id"], name="queued_push_of_service"),
            models.Index(fields=["due_at", "id"], condition=Q(tries__gt=0), name="queued_push_tried"),
        ]

    def __str__(self) -> str:
        return f"{self.topic} to {self.subscription_id}"
