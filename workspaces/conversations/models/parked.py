"""Changes of messages that are not known yet."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ParkedChange(models.Model):
    """An edit, removal or reaction that came before its message.

    It is applied when the message comes, and dropped after a day or when its channel has too many newer ones.
    `message_id` is the provider's, `text` the new text or the emoji, and `at` the provider's time of the change.
    `parked_at` is when the change was last reported or its message became known.
    """

    class Kind(models.TextChoices):
        EDIT = "edit", _("Edit")
        REMOVAL = "removal", _("Removal")
        REACTION = "reaction", _("Reaction")

    channel_id = models.BigIntegerField()
    message_id = models.CharField(max_length=512)
    kind = models.CharField(max_length=10, choices=Kind)
    text = models.TextField(blank=True)
    at = models.DateTimeField()
    parked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["channel_id", "message_id", "kind"], name="parked_change_once_per_message_and_kind"
            )
        ]
        indexes = [models.Index(fields=["parked_at"], name="parked_change_newest")]

    def __str__(self) -> str:
        return f"{self.kind} of a message that is not known yet"
