"""How an agency's e-mails are sent: under which name, and by whose server."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agency.models.agencies import Agency
from agency.models.mail import STEPS, Mail
from config.encryption import EncryptedTextField


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
    carries_account_links = models.BooleanField(default=False, verbose_name="may carry links to accounts")
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
