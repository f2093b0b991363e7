"""An agency's own hosts, where its customers see its name."""

import uuid
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models.agencies import Agency
from config.db import TimeOrExpression

# A host name in ASCII (IDNA) and lower case, with at least two labels. The last label begins with a letter, as the name
# could otherwise be an IP address.
HOST_PATTERN = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
LONGEST_HOST = 253
VERIFICATION_LABEL = "_svc-verify"
# A verified domain whose record is gone is served for so long, so that the agency can notice and restore the record.
GRACE = timedelta(days=14)


class DomainQuerySet(models.QuerySet["Domain"]):
    def of(self, agency: Agency) -> Self:
        return self.filter(agency=agency)

    def verified(self) -> Self:
        return self.filter(state=Domain.State.VERIFIED)

    def due(self, now: TimeOrExpression) -> Self:
        return self.filter(next_check_at__lte=now)


class Domain(models.Model):
    """A host that an agency claims. Any agency may claim it; the `token` in the DNS verifies it, for one agency only.

    `finding` is what the last check saw, `found_texts` and `found_addresses` are the records themselves. `points_here`
    says whether one of the addresses is the installation's, None if that is unknown. `failing_since` is set while the
    record of a verified domain is gone.
    """

    class State(models.TextChoices):
        PENDING = "pending", _("Not verified yet")
        VERIFIED = "verified", _("Verified")

    class Finding(models.TextChoices):
        NOT_CHECKED = "", _("Not checked yet")
        FOUND = "found", _("The record is there")
        NO_RECORD = "no_record", _("There is no record")
        OTHER_VALUE = "other_value", _("The record has another value")
        NO_ANSWER = "no_answer", _("The name servers did not answer")
        TAKEN = "taken", _("Another agency has this domain")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="domains")
    host = models.CharField(max_length=LONGEST_HOST, editable=False)
    token = models.CharField(max_length=64, editable=False)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING, editable=False)
    verified_at = models.DateTimeField(null=True, blank=True, editable=False)
    is_primary = models.BooleanField(default=False, editable=False)
    finding = models.CharField(max_length=12, choices=Finding, blank=True, editable=False)
    found_texts = ArrayField(models.CharField(max_length=255), default=list, blank=True, editable=False)
    found_addresses = ArrayField(models.CharField(max_length=45), default=list, blank=True, editable=False)
    points_here = models.BooleanField(null=True, editable=False)
    checked_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_check_at = models.DateTimeField(null=True, blank=True, default=timezone.now, editable=False)
    failing_since = models.DateTimeField(null=True, blank=True, editable=False)
    pending_since = models.DateTimeField(null=True, blank=True, default=timezone.now, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager["Domain"]] = DomainQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agency", "host"], name="domain_once_per_agency"),
            models.UniqueConstraint(fields=["host"], condition=Q(state="verified"), name="domain_is_of_one_agency"),
            models.UniqueConstraint(fields=["agency"], condition=Q(is_primary=True), name="domain_one_is_primary"),
            models.CheckConstraint(condition=Q(host__regex=HOST_PATTERN), name="domain_host_is_a_name"),
            models.CheckConstraint(
                condition=Q(
                    state="pending", pending_since__isnull=False, verified_at=None, failing_since=None, is_primary=False
                )
                | Q(state="verified", pending_since=None, verified_at__isnull=False),
                name="domain_state_has_its_times",
            ),
        ]
        indexes = [
            models.Index(fields=["host"], name="domain_by_host"),
            models.Index(fields=["next_check_at"], condition=Q(next_check_at__isnull=False), name="domain_to_check"),
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def is_verified(self) -> bool:
        return self.state == self.State.VERIFIED

    @property
    def verification_name(self) -> str:
        """The name of the TXT record that must hold the token."""
        return f"{VERIFICATION_LABEL}.{self.host}"

    @property
    def served_until(self) -> datetime | None:
        """When a verified domain whose record is gone stops being served; None while the record is there."""
        return self.failing_since + GRACE if self.failing_since else None
