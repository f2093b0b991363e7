"""Connect sessions, what an agency has set up for them, and what providers send."""

from channelconnect.models.credentials import ChannelCredential
from channelconnect.models.inbox import ProviderNotice
from channelconnect.models.sessions import ConnectSession
from channelconnect.models.settings import ConnectSettings

__all__ = ["ChannelCredential", "ConnectSession", "ConnectSettings", "ProviderNotice"]
