"""Parses providers' signed callbacks into typed facts."""

from channelconnect.providers.notices.accounts import Account, Channels, Source, accounts_in
from channelconnect.providers.notices.bodies import json_of
from channelconnect.providers.notices.events import (
    AccountLost,
    LimitChanged,
    ProviderEvent,
    QualityChanged,
    TemplateChanged,
    Unknown,
)
from channelconnect.providers.notices.parsing import Fact, UnreadableNotices, notice_of, read_notice

__all__ = [
    "Account",
    "AccountLost",
    "Channels",
    "Fact",
    "LimitChanged",
    "ProviderEvent",
    "QualityChanged",
    "Source",
    "TemplateChanged",
    "Unknown",
    "UnreadableNotices",
    "accounts_in",
    "json_of",
    "notice_of",
    "read_notice",
]
