"""What a connected channel needs to speak to its provider."""

from django.db import models

from config.encryption import EncryptedTextField
from workspaces.subaccounts.models import Channel


class ChannelCredential(models.Model):
    """`container_id` is the WhatsApp business account or the Page that the channel's messages come through.

    `portfolio_id` is the business portfolio whose allowance its messages count against, where the provider told it.
    """

    channel = models.OneToOneField(Channel, on_delete=models.CASCADE, related_name="credential", primary_key=True)
    token = EncryptedTextField(bound_to="channel")
    container_id = models.CharField(max_length=100)
    portfolio_id = models.CharField(max_length=100, blank=True, db_default="")
    throughput = models.CharField(max_length=20, blank=True, db_default="", default="")
    expires_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["container_id"], name="credential_by_container")]

    def __str__(self) -> str:
        return f"credential of {self.channel_id}"
