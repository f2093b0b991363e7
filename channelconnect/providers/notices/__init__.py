"""What providers tell us in signed callbacks, as typed facts."""

from channelconnect.providers.notices.bodies import json_of
from channelconnect.providers.notices.facts import (
    AccountLost,
    Echo,
    Fact,
    InboundMessage,
    LimitChanged,
    MessageStatus,
    PersonRead,
    Problem,
    QualityChanged,
    TemplateChanged,
    Unknown,
)
from channelconnect.providers.notices.reading import Notice, UnreadableNotices, read_notices

__all__ = [
    "AccountLost",
    "Echo",
    "Fact",
    "InboundMessage",
    "LimitChanged",
    "MessageStatus",
    "Notice",
    "PersonRead",
    "Problem",
    "QualityChanged",
    "TemplateChanged",
    "Unknown",
    "UnreadableNotices",
    "json_of",
    "read_notices",
]
