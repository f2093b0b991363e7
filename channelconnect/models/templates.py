"""Message templates as the provider lists them."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workspaces.subaccounts.models import Channel, Workspace

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

    objects: ClassVar[MessageTemplateQuerySet] = MessageTemplateQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

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
