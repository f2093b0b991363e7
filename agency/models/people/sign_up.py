"""Sign-up: an agency's settings for it, and sign-ups whose e-mail address is not confirmed yet."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from agency.models.agencies import Agency

LONGEST_LINK = 500


class SignUpSettingsQuerySet(models.QuerySet["SignUpSettings"]):
    def taking_plans(self) -> Self:
        """Return the settings under which people can get a new workspace, with the default plan."""
        return self.filter(Q(is_on=True) | Q(allows_further_workspaces=True))


class SignUpSettings(models.Model):
    """An agency's settings for sign-up; a missing row means that people cannot sign up or add a workspace.

    New workspaces take the agency's default plan. Without a default plan neither switch can be on, and while a switch
    is on the default plan must stay (triggers of migration 0002).
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="sign_up", primary_key=True)
    is_on = models.BooleanField(default=False, db_default=False)
    allows_further_workspaces = models.BooleanField(default=False, db_default=False)
    terms_url = models.CharField(max_length=LONGEST_LINK, blank=True)
    privacy_url = models.CharField(max_length=LONGEST_LINK, blank=True)

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
        """Whether a new customer has to agree to anything."""
        return bool(self.terms_url or self.privacy_url)


class PendingSignUp(models.Model):
    """What a person wrote on an agency's sign-up page. Person and workspace are made when the link is used, once.

    Until the mail worker has looked the address up (`is_looked_up`), it is unknown whether it has an account; if it
    has, the worker removes the row. `password` is a hash, and is erased when the link is used. `terms_url` and
    `privacy_url` are the documents that the person agreed to.
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
