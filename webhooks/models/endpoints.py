"""Webhook endpoints, and their deliveries counted by the hour."""

import uuid
from typing import Self
from urllib.parse import urlsplit

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from agency.tenants import Tenant
from config.db import CurrentTransaction
from config.encryption import EncryptedTextField

# The waits in seconds before the second and later attempts. Extended retries use all of them.
RETRY_WAITS = (10.0, 60.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 36_000.0)
STANDARD_ATTEMPTS, EXTENDED_ATTEMPTS = 3, len(RETRY_WAITS) + 1


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    def of(self, agency: Agency) -> Self:
        """Keep the agency's own endpoints that have not been removed, without those of its workspaces."""
        return self.of_tenant(Tenant(agency.pk))

    def of_tenant(self, tenant: Tenant) -> Self:
        """Keep the tenant's endpoints that have not been removed."""
        return self.filter(agency_id=tenant.agency_id, workspace_id=tenant.workspace_id, removed_at=None)


class Endpoint(models.Model):
    """A registered receiver of events. A removed endpoint keeps its row, without secrets, for its deliveries.

    `edited_in` is the transaction of the last change. Dispatchers use it to find changed endpoints.
    `last_delivery` is the primary key of the newest ended delivery, `last_outcome` its outcome. `failing_since` is the
    time of the first error after the last success. A change of `url` or `enabled` clears it. A person has dismissed the
    failures up to `failures_dismissed_at`. Until `previous_secret_until` the previous secret signs too.
    """

    class Outcome(models.TextChoices):
        SUCCESS = "success", _("Delivered")
        ERROR = "error", _("Failed")

    class Retries(models.TextChoices):
        STANDARD = "standard", _("Standard")
        EXTENDED = "extended", _("Extended")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="webhooks")
    workspace_id = models.BigIntegerField(null=True, editable=False)
    workspace_uuid = models.UUIDField(null=True, editable=False)
    url = models.CharField(max_length=2048)
    events = ArrayField(models.CharField(max_length=60))
    description = models.CharField(max_length=200, blank=True)
    enabled = models.BooleanField(default=True)
    retries = models.CharField(max_length=10, choices=Retries, default=Retries.STANDARD, db_default="standard")
    secret = EncryptedTextField(bound_to="uuid", null=True)
    previous_secret = EncryptedTextField(bound_to="uuid", null=True)
    previous_secret_until = models.DateTimeField(null=True, editable=False)
    last_outcome = models.CharField(max_length=10, choices=Outcome, null=True, editable=False)
    last_delivery = models.BigIntegerField(null=True, editable=False)
    last_delivery_at = models.DateTimeField(null=True, editable=False)
    failing_since = models.DateTimeField(null=True, editable=False)
    failures_dismissed_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    edited_in = models.BigIntegerField(db_default=CurrentTransaction(), editable=False)
    removed_at = models.DateTimeField(null=True, editable=False)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["edited_in"], name="endpoint_edited"),
            models.Index(fields=["agency", "workspace_id"], name="endpoint_of_tenant"),
            models.Index(
                fields=["workspace_id"],
                condition=Q(enabled=True, removed_at=None, workspace_id__isnull=False),
                name="endpoint_open_of_workspace",
            ),
            models.Index(
                fields=["id"],
                condition=Q(enabled=True, removed_at=None, failing_since__isnull=False),
                name="endpoint_failing",
            ),
            models.Index(
                fields=["previous_secret_until"],
                condition=Q(previous_secret_until__isnull=False),
                name="endpoint_previous_secret",
            ),
            # For the fan-out, whose comparison also matches NULL. An index on the plain column cannot serve it.
            models.Index(
                F("agency"),
                Coalesce("workspace_id", 0),
                F("id"),
                condition=Q(enabled=True, removed_at=None),
                name="endpoint_open_of_tenant",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(events__len__gt=0), name="endpoint_has_an_event"),
            models.CheckConstraint(
                condition=Q(retries__in=["standard", "extended"]), name="endpoint_retries_are_known"
            ),
            models.CheckConstraint(
                condition=Q(previous_secret=None, previous_secret_until=None)
                | Q(previous_secret__isnull=False, previous_secret_until__isnull=False, removed_at=None),
                name="endpoint_previous_secret_ends",
            ),
            models.CheckConstraint(
                condition=Q(removed_at=None, secret__isnull=False) | Q(removed_at__isnull=False, secret=None),
                name="endpoint_secret_ends_with_it",
            ),
            models.CheckConstraint(
                condition=Q(workspace_id=None, workspace_uuid=None)
                | Q(workspace_id__gt=0, workspace_uuid__isnull=False),
                name="endpoint_of_a_workspace_has_its_uuid",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def most_attempts(self) -> int:
        """The number of attempts of a delivery that is created now."""
        return EXTENDED_ATTEMPTS if self.retries == self.Retries.EXTENDED else STANDARD_ATTEMPTS

    @property
    def recorded_url(self) -> str:
        """The URL for the activity log, without query, fragment and user information, which may hold a secret."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.agency_id, self.workspace_id, self.workspace_uuid)


class HourlyStats(models.Model):
    """The ended deliveries of one endpoint in one hour. The statement that ends them also counts them."""

    pk = models.CompositePrimaryKey("endpoint_id", "hour")
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="hourly_stats"
    )
    hour = models.DateTimeField()
    successes = models.IntegerField(default=0)
    errors = models.IntegerField(default=0)

    class Meta:
        verbose_name_plural = "hourly stats"
        indexes = [models.Index(fields=["hour"], name="hourly_stats_by_age")]

    def __str__(self) -> str:
        return f"{self.successes} and {self.errors} of {self.endpoint_id} at {self.hour}"
