"""Applies any number of facts from networks inside the caller's transaction, each one once.

A callback reader opens a transaction, locks all its channels (`lock_channels`), calls one function for each kind of
fact, and commits. The locks keep two readers from deadlocks.
"""

from workspaces.conversations.services.inbound.changes import (
    apply_overtaking_changes,
    change_reactions,
    edit_messages,
    remove_messages,
)
from workspaces.conversations.services.inbound.echoes import record_echoes
from workspaces.conversations.services.inbound.identities import change_identities, change_marketing_preferences
from workspaces.conversations.services.inbound.reading import read_up_to
from workspaces.conversations.services.inbound.receiving import receive_messages
from workspaces.conversations.services.inbound.statuses import advance_statuses
from workspaces.conversations.services.inbound.touching import touch_conversations
from workspaces.conversations.services.locking import lock_channels

__all__ = [
    "advance_statuses",
    "apply_overtaking_changes",
    "change_identities",
    "change_marketing_preferences",
    "change_reactions",
    "edit_messages",
    "lock_channels",
    "read_up_to",
    "receive_messages",
    "record_echoes",
    "remove_messages",
    "touch_conversations",
]
