"""The clients of the outside networks: consent, tokens, accounts, subscriptions, and signed notices from them."""

from channelconnect.providers.faults import ProviderFault
from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.graph.transport import Limits
from channelconnect.providers.notices import ProviderEvent, UnreadableNotices, json_of, notice_of, read_notice
from channelconnect.providers.platforms.provider import Provider
from channelconnect.providers.platforms.registry import provider_for
from channelconnect.providers.settings import ProviderSettings, provider_settings
from channelconnect.providers.signatures import answer_challenge, sign, verify_signature

__all__ = [
    "Account",
    "Grant",
    "Limits",
    "Provider",
    "ProviderEvent",
    "ProviderFault",
    "ProviderSettings",
    "UnreadableNotices",
    "answer_challenge",
    "json_of",
    "notice_of",
    "provider_for",
    "provider_settings",
    "read_notice",
    "sign",
    "verify_signature",
]
