"""Answers that were given already, so that a repeated request is not done again."""

from django.db import models
from django.db.models.functions import Now
from django.db.models.lookups import Exact

FINGERPRINT_BYTES = 32


class IdempotencyRecord(models.Model):
    """The first answer to a principal's key. `status` and `body` are empty while the work is under way.

    A permanent record is kept for as long as the object that it answered for.
    """

    principal = models.CharField(max_length=100)
    key = models.CharField(max_length=255)
    fingerprint = models.BinaryField()
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    is_permanent = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["principal", "key"], name="idempotency_key_once_per_principal"),
            models.CheckConstraint(
                name="idempotency_fingerprint_is_a_sha256",
                condition=Exact(
                    models.Func("fingerprint", function="octet_length", output_field=models.IntegerField()),
                    FINGERPRINT_BYTES,
                ),
            ),
            models.CheckConstraint(
                name="idempotency_answer_is_whole",
                condition=models.Q(status__isnull=True, body__isnull=True)
                | models.Q(status__isnull=False, body__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["created_at"], condition=models.Q(is_permanent=False), name="idempotency_by_age"),
            models.Index(fields=["created_at"], condition=models.Q(is_permanent=True), name="idempotency_permanent"),
        ]

    def __str__(self) -> str:
        return f"{self.principal} {self.key}"
