"""E-mails as rows: written with the change that causes them, sent by a worker."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models.agencies import Agency
from agency.models.people import Invitation
from config.smtp import Step

STEPS = {
    Step.LOOKUP.value: _("DNS lookup"),
    Step.CONNECT.value: _("Connecting"),
    Step.GREETING.value: _("Greeting"),
    Step.TLS.value: _("Encryption"),
    Step.SIGN_IN.value: _("Signing in"),
    Step.SENDER.value: _("Sender"),
    Step.RECIPIENT.value: _("Recipient"),
    Step.CONTENT.value: _("Content"),
}


class Mail(models.Model):
    """One e-mail; its text and any link in it are made when it is sent, and never stored.

    `user` is empty for an address that may belong to nobody yet, `agency` if no agency caused the e-mail. `failure` and
    the fields that go with it describe the last failed attempt. `link_host` is the agency's host in the link of a sent
    e-mail, empty for the installation's host.
    """

    class Kind(models.TextChoices):
        OWNER_INVITATION = "owner_invitation"
        OWNERSHIP_INVITATION = "ownership_invitation"
        MEMBER_INVITATION = "member_invitation"
        SIGN_UP_CONFIRMATION = "sign_up_confirmation"
        SIGN_UP_KNOWN_ADDRESS = "sign_up_known_address"
        WORKSPACE_INVITATION = "workspace_invitation"
        PASSWORD_RESET = "password_reset"  # noqa: S105 - the name of a kind of e-mail
        TWO_FACTOR_CHANGED = "two_factor_changed"
        RECOVERY_CODE_USED = "recovery_code_used"
        NEW_SIGN_IN = "new_sign_in"
        DOMAIN_RECORD_MISSING = "domain_record_missing"
        AGENCY_MESSAGE = "agency_message"
        NOTIFICATION = "notification"
        NOTIFICATION_DIGEST = "notification_digest"
        BOOKING_CODE = "booking_code"
        APPOINTMENT_BOOKED = "appointment_booked"
        APPOINTMENT_CHANGED = "appointment_changed"
        APPOINTMENT_CANCELLED = "appointment_cancelled"
        DEPOSIT_REFUNDED = "deposit_refunded"
        SEAT_BOOKED = "seat_booked"
        SEAT_WAITING = "seat_waiting"
        SEAT_MOVED_UP = "seat_moved_up"
        SEAT_CANCELLED = "seat_cancelled"
        CLASS_CHANGED = "class_changed"
        CLASS_CANCELLED = "class_cancelled"
        INVOICE = "invoice"
        TEST = "test"

    class Failure(models.TextChoices):
        """Why an e-mail was not sent, or was not accepted."""

        NAME = "name", _("The DNS lookup of the server failed.")
        BLOCKED = "blocked", _("The server's address may not be reached from here.")
        UNREACHABLE = "unreachable", _("The server could not be reached.")
        TIMEOUT = "timeout", _("The server took too long to answer.")
        CLOSED = "closed", _("The server closed the connection.")
        TLS = "tls", _("No trusted encrypted connection could be made.")
        SIGN_IN = "sign_in", _("The server did not accept the user name and the password.")
        SENDER = "sender", _("The server did not accept the sender's address.")
        RECIPIENT = "recipient", _("The server does not take e-mail for this recipient.")
        CONTENT = "content", _("The server did not take the e-mail's content.")
        LATER = "later", _("The server asked for another attempt later.")
        REFUSED = "refused", _("The server refused the conversation.")
        TOO_MANY = "too_many", _("This address has reached the daily limit for e-mails of this kind.")
        UNREADABLE = "unreadable", _("The server's password cannot be read; type it again.")
        UNWRITTEN = "unwritten", _("The e-mail could not be written, or its address is not valid.")
        UNANSWERED = "unanswered", _("The server received the e-mail but did not say whether it accepts it.")
        INTERRUPTED = "interrupted", _("Sending was interrupted again and again.")

    kind = models.CharField(max_length=30, choices=Kind)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="mails")
    recipient = models.EmailField()
    agency = models.ForeignKey(Agency, null=True, on_delete=models.PROTECT, db_index=False, related_name="mails")
    invitation = models.ForeignKey(Invitation, null=True, on_delete=models.CASCADE, related_name="mails")
    context = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)
    by_own_server = models.BooleanField(default=False, db_default=False)
    failure = models.CharField(max_length=20, choices=Failure, blank=True, db_default="", default="")
    failure_step = models.CharField(max_length=20, choices=STEPS, blank=True, db_default="", default="")
    failure_code = models.PositiveSmallIntegerField(null=True)
    failure_text = models.CharField(max_length=300, blank=True, db_default="", default="")
    failed_at = models.DateTimeField(null=True)
    queued_again_at = models.DateTimeField(null=True)
    link_host = models.CharField(max_length=253, blank=True, db_default="", default="")

    class Meta:
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(sent_at=None, given_up_at=None), name="mail_due"),
            models.Index(
                Coalesce("agency", 0),
                "kind",
                "next_attempt_at",
                condition=Q(sent_at=None, given_up_at=None),
                name="mail_waiting_for",
            ),
            models.Index(fields=["recipient", "-sent_at"], name="mail_sent_to"),
            models.Index(fields=["agency", "-sent_at"], name="mail_sent_for"),
            models.Index(
                fields=["agency", "-failed_at"],
                condition=Q(sent_at=None, failed_at__isnull=False),
                name="mail_failed_for",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(failure="", failed_at=None) | (~Q(failure="") & Q(failed_at__isnull=False)),
                name="mail_failure_has_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id or 'an address'}"


class PasswordResetRequest(models.Model):
    """An address for which somebody asked for a password link, until a worker has looked up whose it is, if anybody's.

    The page therefore does the same for every address. `agency` is the one on whose host the link was asked for.
    """

    email = models.EmailField(max_length=254)
    agency = models.ForeignKey(Agency, null=True, on_delete=models.CASCADE, db_index=False, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"request {self.pk}"
