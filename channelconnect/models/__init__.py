"""Models of connect sessions and their settings, providers' callbacks, sending, templates, and subscriptions to end."""

from channelconnect.models.allowance import Allowance, AllowanceUse
from channelconnect.models.credentials import ChannelCredential
from channelconnect.models.inbox import ProviderNotice, ReadingAttempt
from channelconnect.models.media_uploads import MediaUpload
from channelconnect.models.sending import ProviderBrake, SenderRun, SenderShard
from channelconnect.models.sessions import ConnectSession
from channelconnect.models.settings import ConnectSettings
from channelconnect.models.templates import MessageTemplate, TemplateSync
from channelconnect.models.unsubscriptions import Unsubscription

__all__ = [
    "Allowance",
    "AllowanceUse",
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
