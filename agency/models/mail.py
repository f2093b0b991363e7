"""E-mails to be sent: rows written with the change that causes them, sent by a worker."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Mail(models.Model):
    """One e-mail; its text, and any link in it, is made at the moment of sending and never stored."""

    class Kind(models.TextChoices):
        OWNER_INVITATION = "owner_invitation"
        MEMBER_INVITATION = "member_invitation"
        MEMBER_ADDED = "member_added"
        PASSWORD_RESET = "password_reset"  # noqa: S105 - the name of a kind of e-mail

    kind = models.CharField(max_length=30, choices=Kind)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mails")
    context = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(sent_at=None, given_up_at=None), name="mail_due"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id}"
