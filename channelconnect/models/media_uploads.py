"""Files that a provider has received from us."""

from django.db import models


class MediaUpload(models.Model):
    """A file uploaded to WhatsApp for a number's messages. `provider_id` names it there for 30 days."""

    channel_id = models.BigIntegerField()
    media_id = models.BigIntegerField()
    provider_id = models.CharField(max_length=100)
    uploaded_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel_id", "media_id"], name="media_upload_once_per_channel")]

    def __str__(self) -> str:
        return f"file {self.media_id} at the provider of channel {self.channel_id}"
