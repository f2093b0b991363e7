"""The credentials with which a connected channel calls its provider."""

from django.db import models
from django.db.models import Q

from config.encryption import EncryptedTextField
from workspaces.subaccounts.models import Channel


class ChannelCredential(models.Model):
    """A channel's token and its identity at the provider.

    `container_id` is the WhatsApp business account or the Page through which the channel's messages come.
    `portfolio_id` is the business portfolio whose allowance its messages use, if the provider has named it.
    `access_check_due_at` is when to ask the provider whether the token is still good, after an answer that cast doubt
    on it. `access_checked_at` is when the provider last said that it is.
    """

    channel = models.OneToOneField(Channel, on_delete=models.CASCADE, related_name="credential", primary_key=True)
    token = EncryptedTextField(bound_to="channel")
    container_id = models.CharField(max_length=100)
    portfolio_id = models.CharField(max_length=100, blank=True, db_default="")
    throughput = models.CharField(max_length=20, blank=True, db_default="", default="")
    expires_at = models.DateTimeField(null=True)
    access_check_due_at = models.DateTimeField(null=True)
    access_checked_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["container_id"], name="credential_by_container"),
            models.Index(
                fields=["access_check_due_at"],
                condition=Q(access_check_due_at__isnull=False),
                name="credential_access_check_due",
            ),
        ]

    def __str__(self) -> str:
        return f"credential of {self.channel_id}"
