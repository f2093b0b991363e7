"""Outgoing messages: their bodies for each network, the meaning of its answers, and the texts of its errors."""

from channelconnect.providers.messages.answers import Outcome, read_answer
from channelconnect.providers.messages.bodies import body_of, read_mark, typing_mark
from channelconnect.providers.messages.errors import (
    NO_ADDRESS,
    NOT_CONNECTED,
    OUTCOME_UNKNOWN,
    CallResult,
    SendError,
    error_of,
    sentence_of,
)
from channelconnect.providers.messages.outgoing import OutgoingFile, OutgoingMessage, Recipient
from channelconnect.providers.messages.requests import messages_endpoint

__all__ = [
    "NOT_CONNECTED",
    "NO_ADDRESS",
    "OUTCOME_UNKNOWN",
    "CallResult",
    "Outcome",
    "OutgoingFile",
    "OutgoingMessage",
    "Recipient",
    "SendError",
    "body_of",
    "error_of",
    "messages_endpoint",
    "read_answer",
    "read_mark",
    "sentence_of",
    "typing_mark",
]
