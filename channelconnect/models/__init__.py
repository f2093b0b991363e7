"""Models of connect sessions and their settings, providers' callbacks, sending, templates, and subscriptions to end."""

from channelconnect.models.channels import (
    BusinessAppSync,
    ChannelCredential,
    MessageTemplate,
    TemplateSync,
    Unsubscription,
)
from channelconnect.models.inbox import ProviderNotice, ReadingAttempt
from channelconnect.models.sending import Allowance, AllowanceUse, MediaUpload, ProviderBrake, SenderRun, SenderShard
from channelconnect.models.sessions import ConnectSession, ConnectSettings

__all__ = [
    "Allowance",
    "AllowanceUse",
    "BusinessAppSync",
    "ChannelCredential",
    "ConnectSession",
    "ConnectSettings",
    "MediaUpload",
    "MessageTemplate",
    "ProviderBrake",
    "ProviderNotice",
    "ReadingAttempt",
    "SenderRun",
    "SenderShard",
    "TemplateSync",
    "Unsubscription",
]
