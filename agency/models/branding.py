"""How an agency appears under its own name: its brand, its hosts, the sender of its e-mails."""

import uuid
from datetime import datetime, timedelta
from typing import ClassVar, Final, Literal, NamedTuple, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models.agencies import Agency
from agency.models.mail import STEPS, Mail
from config.db import TimeOrExpression
from config.encryption import EncryptedTextField

PictureKind = Literal["logo", "dark_logo", "favicon"]
# The columns with the pictures' bytes, which no page needs. Use `.defer(*PICTURE_BYTE_FIELDS)`, or from an agency
# `.defer(*AGENCY_PICTURE_BYTE_FIELDS)`.
PICTURE_BYTE_FIELDS: Final[tuple[PictureKind, ...]] = ("logo", "dark_logo", "favicon")
AGENCY_PICTURE_BYTE_FIELDS: Final = tuple(f"brand__{kind}" for kind in PICTURE_BYTE_FIELDS)


class Picture(NamedTuple):
    """A PNG that we have made, as pages name it: by its SHA-256, with its size in pixels."""

    digest: str
    width: int
    height: int


def _whole(kind: PictureKind) -> models.CheckConstraint:
    """A picture is stored with its digest and its size, or not at all."""
    digest, width, height = f"{kind}_digest", f"{kind}_width", f"{kind}_height"
    none = Q(**{kind: None, digest: "", width: None, height: None})
    whole = Q(
        **{f"{kind}__isnull": False, f"{digest}__regex": r"^[0-9a-f]{64}$", f"{width}__gt": 0, f"{height}__gt": 0}
    )
    return models.CheckConstraint(condition=none | whole, name=f"brand_{kind}_is_whole")


def _by_digest(kind: PictureKind) -> models.Index:
    digest = f"{kind}_digest"
    return models.Index(fields=[digest], condition=~Q(**{digest: ""}), name=f"brand_by_{kind}")


class Brand(models.Model):
    """An agency's colour and pictures; a missing row means the product's own look.

    `accent` is a colour such as #1f6feb, or empty. Pictures are PNGs that we have made, named by their SHA-256.
    `dark_logo` is for dark backgrounds. `favicon` is a square, made from the logo unless the agency has its own.
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="brand", primary_key=True)
    accent = models.CharField(max_length=7, blank=True)
    logo = models.BinaryField(null=True)
    logo_digest = models.CharField(max_length=64, blank=True)
    logo_width = models.PositiveSmallIntegerField(null=True)
    logo_height = models.PositiveSmallIntegerField(null=True)
    dark_logo = models.BinaryField(null=True)
    dark_logo_digest = models.CharField(max_length=64, blank=True)
    dark_logo_width = models.PositiveSmallIntegerField(null=True)
    dark_logo_height = models.PositiveSmallIntegerField(null=True)
    favicon = models.BinaryField(null=True)
    favicon_digest = models.CharField(max_length=64, blank=True)
    favicon_width = models.PositiveSmallIntegerField(null=True)
    favicon_height = models.PositiveSmallIntegerField(null=True)
    favicon_is_own = models.BooleanField(default=False)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [_by_digest("logo"), _by_digest("dark_logo"), _by_digest("favicon")]
        constraints = [
            models.CheckConstraint(
                condition=Q(accent="") | Q(accent__regex=r"^#[0-9a-f]{6}$"), name="brand_accent_is_a_colour"
            ),
            _whole("logo"),
            _whole("dark_logo"),
            _whole("favicon"),
            models.CheckConstraint(
                condition=Q(favicon_width=models.F("favicon_height")) | Q(favicon=None), name="brand_favicon_is_square"
            ),
            models.CheckConstraint(
                condition=Q(favicon_is_own=False) | Q(favicon__isnull=False), name="brand_own_favicon_is_there"
            ),
        ]

    def __str__(self) -> str:
        return f"brand of {self.agency}"

    @property
    def colour(self) -> str:
        """The accent as six hex digits, or empty."""
        return self.accent.removeprefix("#")

    def picture(self, kind: PictureKind) -> Picture | None:
        """Return a picture's digest and size, or None if there is no such picture."""
        digest, width, height = (getattr(self, f"{kind}_{part}") for part in ("digest", "width", "height"))
        return Picture(digest, width, height) if digest else None


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


class MailSettings(models.Model):
    """An agency's sender and mail server; a missing row means the agency's name and the installation's server.

    The agency's own server is used once it has accepted a test e-mail with the present settings (`verified_at`) and
    support allows it (`carries_account_links`), as people who run a server may read the links that make accounts. After
    several failures in a row the server rests, and the installation's server stands in until `resting_until`. `failure`
    and the fields that go with it describe the last failure.
    """

    class Security(models.TextChoices):
        TLS = "tls", _("TLS from the beginning (usually port 465)")
        STARTTLS = "starttls", _("STARTTLS (usually port 587)")

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="mail_settings", primary_key=True)
    sender_name = models.CharField(max_length=120, blank=True)
    reply_to = models.EmailField(blank=True)
    host = models.CharField(max_length=253, blank=True)
    port = models.PositiveIntegerField(null=True)
    security = models.CharField(max_length=10, choices=Security, blank=True)
    username = models.CharField(max_length=254, blank=True)
    password = EncryptedTextField(bound_to="agency", null=True)
    from_address = models.EmailField(blank=True)
    carries_account_links = models.BooleanField(default=False, verbose_name="approved for sign-in links")
    verified_at = models.DateTimeField(null=True)
    failures = models.PositiveSmallIntegerField(default=0)
    resting_until = models.DateTimeField(null=True)
    failure = models.CharField(max_length=20, choices=Mail.Failure, blank=True)
    failure_step = models.CharField(max_length=20, choices=STEPS, blank=True)
    failure_code = models.PositiveSmallIntegerField(null=True)
    failure_text = models.CharField(max_length=300, blank=True)
    failed_at = models.DateTimeField(null=True)
    tested_at = models.DateTimeField(null=True)
    test_report = models.JSONField(default=dict)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = verbose_name_plural = "mail settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    host="", port=None, security="", username="", password=None, from_address="", verified_at=None
                )
                | ~Q(host="") & Q(port__isnull=False, security__in=["tls", "starttls"]) & ~Q(from_address=""),
                name="mail_server_is_whole",
            ),
            models.CheckConstraint(
                condition=Q(username="", password=None) | (~Q(username="") & Q(password__isnull=False)),
                name="mail_server_has_both_credentials",
            ),
            models.CheckConstraint(
                condition=Q(port=None) | Q(port__in=[465, 587]) | Q(port__range=(1024, 65535)),
                name="mail_server_port_is_for_submission",
            ),
        ]

    def __str__(self) -> str:
        return f"mail settings of {self.agency_id}"

    @property
    def has_server(self) -> bool:
        return bool(self.host)

    def is_used(self, now: datetime) -> bool:
        """Return whether the agency's own server is in use: support allows it, it passed a test, it does not rest."""
        return self.carries_account_links and self.verified_at is not None and not self.is_resting(now)

    def is_resting(self, now: datetime) -> bool:
        return self.resting_until is not None and self.resting_until > now
