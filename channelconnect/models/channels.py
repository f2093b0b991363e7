"""What belongs to a connected channel: credentials, message templates, subscriptions still to be ended."""

import uuid
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.encryption import EncryptedTextField
from workspaces.subaccounts.models import Channel, Workspace


class ChannelCredential(models.Model):
    """A channel's token and its identity at the provider.

    `container_id` is the WhatsApp business account or the Page through which the channel's messages come.
    `portfolio_id` is the business portfolio whose allowance its messages use, if the provider has named it.
    `access_check_due_at` is when to ask the provider whether the token is still good, after an answer that cast doubt
    on it. `access_checked_at` is when the provider last said that it is.
    """

    channel = models.OneToOneField(Channel, on_delete=models.CASCADE, related_name="credential", primary_key=True)
    token = EncryptedTextField(bound_to="channel")
    container_id = models.CharField(max_length=100)
    portfolio_id = models.CharField(max_length=100, blank=True, db_default="")
    throughput = models.CharField(max_length=20, blank=True, db_default="", default="")
    expires_at = models.DateTimeField(null=True)
    access_check_due_at = models.DateTimeField(null=True)
    access_checked_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["container_id"], name="credential_by_container"),
            models.Index(
                fields=["access_check_due_at"],
                condition=Q(access_check_due_at__isnull=False),
                name="credential_access_check_due",
            ),
        ]

    def __str__(self) -> str:
        return f"credential of {self.channel_id}"


LONGEST_TEMPLATE_NAME = 512


class MessageTemplateQuerySet(models.QuerySet["MessageTemplate"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the templates of a workspace's business accounts. Every query of a view starts here."""
        containers = Channel.objects.filter(workspace=workspace, platform="whatsapp").exclude(
            status=Channel.Status.DISCONNECTED
        )
        return self.filter(container_id__in=containers.values("credential__container_id"))


class MessageTemplate(models.Model):
    """A template of a business account in one language, shared by the account's numbers.

    `components` are the provider's. `parameters` are the gaps in them to fill. `provider_status` is the provider's
    text.
    """

    class Status(models.TextChoices):
        APPROVED = "approved", _("Approved")
        PENDING = "pending", _("Pending")
        REJECTED = "rejected", _("Rejected")
        PAUSED = "paused", _("Paused")
        DISABLED = "disabled", _("Disabled")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    container_id = models.CharField(max_length=100)
    provider_id = models.CharField(max_length=64, blank=True)
    name = models.CharField(max_length=LONGEST_TEMPLATE_NAME)
    language = models.CharField(max_length=20)
    category = models.CharField(max_length=40, blank=True)
    status = models.CharField(max_length=10, choices=Status)
    provider_status = models.CharField(max_length=40, blank=True)
    parameter_format = models.CharField(max_length=20, blank=True)
    components = models.JSONField(default=list)
    parameters = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MessageTemplateQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["container_id", "name", "language"], name="template_once_per_account_and_language"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["approved", "pending", "rejected", "paused", "disabled"]),
                name="template_status_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.language})"


class TemplateSync(models.Model):
    """When to list a business account's templates again. `fault` says why the last listing failed."""

    container_id = models.CharField(max_length=100, primary_key=True)
    due_at = models.DateTimeField(default=timezone.now)
    synced_at = models.DateTimeField(null=True)
    fault = models.CharField(max_length=60, blank=True)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="template_sync_due")]

    def __str__(self) -> str:
        return f"templates of {self.container_id}"


class BusinessAppSync(models.Model):
    """The contacts and the chat history that come from the WhatsApp Business app of a channel's number.

    WhatsApp takes one request for each, within a day of `begun_at`. A time in `contacts_asked_at` or `history_asked_at`
    is written before its call, so that none is made twice. `due_at` is when the next call is due. The faults say why a
    call failed. `contacts` counts the entries that came, `history_progress` is WhatsApp's percentage, and
    `is_history_declined` says that the owner does not share the history.
    """

    channel = models.OneToOneField(
        Channel, on_delete=models.CASCADE, related_name="business_app_sync", primary_key=True
    )
    begun_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    contacts_asked_at = models.DateTimeField(null=True)
    contacts_request_id = models.CharField(max_length=100, blank=True)
    contacts_fault = models.CharField(max_length=60, blank=True)
    contacts = models.IntegerField(default=0)
    history_asked_at = models.DateTimeField(null=True)
    history_request_id = models.CharField(max_length=100, blank=True)
    history_fault = models.CharField(max_length=60, blank=True)
    history_progress = models.SmallIntegerField(null=True)
    is_history_declined = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="business_app_sync_due")]
        constraints = [
            models.CheckConstraint(condition=Q(contacts__gte=0), name="business_app_contacts_are_counted"),
            models.CheckConstraint(
                condition=Q(history_progress=None) | Q(history_progress__range=(0, 100)),
                name="business_app_progress_is_a_percentage",
            ),
        ]

    def __str__(self) -> str:
        return f"contacts and history of {self.channel_id}"


class UnsubscriptionStatus(models.TextChoices):
    SUBSCRIBING = "subscribing", _("Being subscribed for a choice")
    WAITING = "waiting", _("To be taken back")
    UNSUBSCRIBED = "unsubscribed", _("Taken back")
    STILL_USED = "still_used", _("Kept: another channel uses it")
    REFUSED = "refused", _("Refused by the provider")
    GIVEN_UP = "given_up", _("Given up")


class UnsubscriptionReason(models.TextChoices):
    DISCONNECTED = "disconnected", _("The channel was disconnected")
    MOVED = "moved", _("The account came back in another container")
    NOT_SAVED = "not_saved", _("The choice was not saved")


OPEN = (UnsubscriptionStatus.SUBSCRIBING, UnsubscriptionStatus.WAITING)


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
    reason = models.CharField(max_length=20, choices=UnsubscriptionReason)
    status = models.CharField(max_length=20, choices=UnsubscriptionStatus)
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
            models.CheckConstraint(
                condition=Q(status__in=UnsubscriptionStatus.values), name="unsubscription_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(reason__in=UnsubscriptionReason.values), name="unsubscription_reason_is_known"
            ),
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
