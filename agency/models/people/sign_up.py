"""Sign-up: what an agency has set for it, and what people have written whose address is still to be confirmed."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from agency.models.agencies import Agency

LONGEST_LINK = 500


class SignUpSettingsQuerySet(models.QuerySet["SignUpSettings"]):
    def taking_plans(self) -> Self:
        """Keep those by which somebody may get a new workspace, with the default plan."""
        return self.filter(Q(is_on=True) | Q(allows_further_workspaces=True))


class SignUpSettings(models.Model):
    """A missing row means that nobody signs up and nobody adds a workspace.

    New workspaces take the agency's default plan: without one neither can be switched on, and it cannot go while one is
    (triggers of migration 0015).
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="sign_up", primary_key=True)
    is_on = models.BooleanField(default=False, db_default=False)
    allows_further_workspaces = models.BooleanField(default=False, db_default=False)
    terms_url = models.CharField(max_length=LONGEST_LINK, blank=True)
    privacy_url = models.CharField(max_length=LONGEST_LINK, blank=True)

    # As Django documents it.
    objects: ClassVar[SignUpSettingsQuerySet] = SignUpSettingsQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        verbose_name_plural = "sign-up settings"
        constraints = [
            models.CheckConstraint(
                condition=(Q(terms_url="") | Q(terms_url__startswith="https://"))
                & (Q(privacy_url="") | Q(privacy_url__startswith="https://")),
                name="sign_up_links_are_https",
            ),
        ]

    def __str__(self) -> str:
        return f"sign-up at {self.agency}"

    @property
    def has_terms(self) -> bool:
        """Whether there is anything that a new customer has to agree to."""
        return bool(self.terms_url or self.privacy_url)


class PendingSignUp(models.Model):
    """What somebody wrote on an agency's sign-up page. Person and workspace are made when the link is used, once.

    Until the mail worker has looked its address up (`is_looked_up`) nothing is known of it: the row of somebody who has
    an account goes then. `password` is a hash, and forgotten with the use. `terms_url` and `privacy_url` are what was
    agreed to.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="pending_sign_ups")
    email = models.EmailField()
    name = models.CharField(max_length=120)
    password = models.CharField(max_length=128, blank=True)
    business = models.CharField(max_length=120)
    business_type = models.CharField(max_length=30, blank=True)
    timezone = models.CharField(max_length=64)
    terms_url = models.CharField(max_length=LONGEST_LINK, blank=True)
    privacy_url = models.CharField(max_length=LONGEST_LINK, blank=True)
    created_at = models.DateTimeField(default=now, editable=False)
    expires_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True)
    is_looked_up = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=Q(is_looked_up=False), name="sign_up_to_look_up"),
            models.Index(fields=["expires_at"], name="sign_up_by_end"),
            models.Index(fields=["email"], name="sign_up_of_address"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=(Q(confirmed_at=None) & ~Q(password="")) | Q(confirmed_at__isnull=False, password=""),
                name="sign_up_keeps_no_password",
            ),
            models.CheckConstraint(condition=Q(expires_at__gt=models.F("created_at")), name="sign_up_ends_later"),
        ]

    def __str__(self) -> str:
        return f"sign-up of {self.email}"
