"""What providers send us in signed callbacks, as typed events."""

from channelconnect.providers.notices.bodies import json_of
from channelconnect.providers.notices.events import (
    AccountLost,
    Echo,
    InboundMessage,
    LimitChanged,
    MessageStatus,
    PersonRead,
    Problem,
    ProviderEvent,
    QualityChanged,
    TemplateChanged,
    Unknown,
)
from channelconnect.providers.notices.parsing import UnreadableNotices, read_notices

__all__ = [
    "AccountLost",
    "Echo",
    "InboundMessage",
    "LimitChanged",
    "MessageStatus",
    "PersonRead",
    "Problem",
    "ProviderEvent",
    "QualityChanged",
    "TemplateChanged",
    "Unknown",
    "UnreadableNotices",
    "json_of",
    "read_notices",
]
