"""What networks tell, applied in bulk inside the caller's transaction: any number of facts, each of them once.

Readers of callbacks open the transaction, call one function for each kind of fact and commit.
"""

from collections.abc import Sequence
from datetime import datetime

from workspaces.conversations.facts import (
    ConversationTouched,
    EchoReceived,
    IdentityChanged,
    MarketingPreferenceChanged,
    MessageEdited,
    MessageReceived,
    MessageRemoved,
    ReactionChanged,
    ReadUpTo,
    StatusChanged,
)

__all__ = [
    "advance_statuses",
    "change_identities",
    "change_marketing_preferences",
    "change_reactions",
    "edit_messages",
    "read_up_to",
    "receive_messages",
    "record_echoes",
    "remove_messages",
    "touch_conversations",
]


def receive_messages(facts: Sequence[MessageReceived], *, now: datetime) -> int:
    raise NotImplementedError


def record_echoes(facts: Sequence[EchoReceived], *, now: datetime) -> int:
    raise NotImplementedError


def edit_messages(facts: Sequence[MessageEdited], *, now: datetime) -> int:
    raise NotImplementedError


def remove_messages(facts: Sequence[MessageRemoved], *, now: datetime) -> int:
    raise NotImplementedError


def change_reactions(facts: Sequence[ReactionChanged], *, now: datetime) -> int:
    raise NotImplementedError


def touch_conversations(facts: Sequence[ConversationTouched], *, now: datetime) -> int:
    raise NotImplementedError


def advance_statuses(facts: Sequence[StatusChanged], *, now: datetime) -> int:
    raise NotImplementedError


def read_up_to(facts: Sequence[ReadUpTo], *, now: datetime) -> int:
    raise NotImplementedError


def change_identities(facts: Sequence[IdentityChanged], *, now: datetime) -> int:
    raise NotImplementedError


def change_marketing_preferences(facts: Sequence[MarketingPreferenceChanged], *, now: datetime) -> int:
    raise NotImplementedError
