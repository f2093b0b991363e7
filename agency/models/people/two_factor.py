"""A person's second factor: the key of their authenticator app, and the recovery codes that stand in for it."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from config.encryption import EncryptedTextField


class TwoFactor(models.Model):
    """The key of an authenticator app (RFC 6238); in force from `confirmed_at`, when a first code was right.

    `last_used_step` is the time step of the last accepted code; codes of that step or an earlier step are refused.
    `attempts` counts the attempts since `attempts_since` without a right code.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="two_factor")
    secret = EncryptedTextField(bound_to="user")
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True)
    last_used_step = models.BigIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    attempts_since = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"two-factor of {self.user_id}"


class RecoveryCode(models.Model):
    """A recovery code, which lets a person in once without their app; only its SHA-256 is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="recovery_codes"
    )
    digest = models.BinaryField(max_length=32)
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once_per_user")]

    def __str__(self) -> str:
        return f"recovery code of {self.user_id}"
