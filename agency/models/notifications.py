"""Notifications: what happened, who is notified, and how each person wants to be notified."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agency.models.agencies import Agency
from agency.tenants import Audience, Tenant


class NotificationEvent(models.Model):
    """Something of which people of an agency or of one of its workspaces are notified once.

    `key` says what the event is about: while an event of a kind is open, no second event has its key. An event that
    `lasts` stays open until its state has ended. With `only_user` only that person is notified. `object_id` goes into
    the address of the event's page. People with ids up to `told_until` have their notification already.
    """

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, db_index=False, related_name="+")
    workspace_id = models.BigIntegerField(null=True, editable=False)
    workspace_uuid = models.UUIDField(null=True, editable=False)
    kind = models.CharField(max_length=60)
    key = models.CharField(max_length=200)
    object_id = models.CharField(max_length=64, blank=True)
    data = models.JSONField(default=dict)
    only_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    created_at = models.DateTimeField()
    lasts = models.BooleanField(default=False)
    ended_at = models.DateTimeField(null=True)
    told_until = models.BigIntegerField(default=0)
    told_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "key"], condition=Q(ended_at=None), name="notification_event_open_once"
            ),
            models.CheckConstraint(condition=Q(ended_at=None) | Q(lasts=True), name="notification_event_end_of_state"),
            models.CheckConstraint(
                condition=Q(workspace_id=None, workspace_uuid=None)
                | Q(workspace_id__isnull=False, workspace_uuid__isnull=False),
                name="notification_event_of_a_workspace_has_its_uuid",
            ),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(told_at=None), name="notification_event_to_tell"),
            models.Index(
                fields=["kind", "id"], condition=Q(lasts=True, ended_at=None), name="notification_event_lasting"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.workspace_uuid or self.agency_id}"

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.agency_id, self.workspace_id, self.workspace_uuid)

    @property
    def audience(self) -> Audience:
        return self.tenant.audience


class DeliveryMethod(models.TextChoices):
    """How a person receives notifications of one kind."""

    OFF = "off", _("Not at all")
    CONSOLE = "console", _("Here")
    AT_ONCE = "at_once", _("Here and by e-mail at once")
    DIGEST = "digest", _("Here and in a daily e-mail")


class Notification(models.Model):
    """The notification of one person; `area` is the id of the agency or workspace.

    While `mail_due_at` is set, an e-mail must still be queued: at once or in the daily digest, as `way` says.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="notifications"
    )
    event = models.ForeignKey(NotificationEvent, on_delete=models.CASCADE, db_index=False, related_name="notifications")
    area = models.UUIDField()
    kind = models.CharField(max_length=60)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    way = models.CharField(max_length=10, choices=DeliveryMethod)
    mail_due_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event", "user"], name="notification_once_per_person"),
            models.CheckConstraint(
                condition=Q(mail_due_at=None) | Q(mailed_at=None, way__in=["at_once", "digest"]),
                name="notification_mail_is_due_once",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "area", "-id"], name="notification_of_person"),
            models.Index(fields=["user", "area"], condition=Q(read_at=None), name="notification_unread"),
            models.Index(
                fields=["way", "mail_due_at", "id"],
                condition=Q(mail_due_at__isnull=False),
                name="notification_mail_due",
            ),
            models.Index(
                fields=["user", "-id"],
                condition=Q(way="digest", mail_due_at__isnull=False),
                name="notification_digest_of_person",
            ),
            models.Index(
                fields=["user", "-mailed_at"], condition=Q(mailed_at__isnull=False), name="notification_mailed_to"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id}"


class NotificationPreference(models.Model):
    """How a person receives one kind at one agency or workspace (`area`, its id); without a row, the kind's default."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="notification_preferences"
    )
    area = models.UUIDField()
    kind = models.CharField(max_length=60)
    way = models.CharField(max_length=10, choices=DeliveryMethod)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "area", "kind"], name="notification_preference_once"),
            models.CheckConstraint(
                condition=Q(way__in=["off", "console", "at_once", "digest"]),
                name="notification_preference_way_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id}: {self.way}"


class StateCheckPosition(models.Model):
    """How far a check of lasting states has come that goes through a large table in parts."""

    name = models.CharField(max_length=60, primary_key=True)
    position = models.BigIntegerField(default=0)
    passed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} at {self.position}"
