"""E-mails to be sent: rows written with the change that causes them, sent by a worker."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agency.models.agencies import Agency
from agency.models.invitations import Invitation


class Mail(models.Model):
    """One e-mail; its text, and any link in it, is made at the moment of sending and never stored.

    `user` is empty for an address that may be nobody's yet, `agency` for what no agency has caused.
    """

    class Kind(models.TextChoices):
        OWNER_INVITATION = "owner_invitation"
        OWNERSHIP_INVITATION = "ownership_invitation"
        MEMBER_INVITATION = "member_invitation"
        PASSWORD_RESET = "password_reset"  # noqa: S105 - the name of a kind of e-mail

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

    class Meta:
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(sent_at=None, given_up_at=None), name="mail_due"),
            models.Index(fields=["recipient", "-sent_at"], name="mail_sent_to"),
            models.Index(fields=["agency", "-sent_at"], name="mail_sent_for"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id or 'an address'}"
