"""Applies any number of facts from networks inside the caller's transaction, each one once.

A callback reader opens a transaction, locks all its channels (`lock_channels`), calls one function for each kind of
fact, and commits. The locks keep two readers from deadlocks.
"""

from workspaces.conversations.services.conversations import lock_channels
from workspaces.conversations.services.inbound.changes import (
    apply_out_of_order_changes,
    change_reactions,
    edit_messages,
    remove_messages,
)
from workspaces.conversations.services.inbound.comments import (
    edit_comments,
    receive_comments,
    remove_comments,
    use_private_replies,
)
from workspaces.conversations.services.inbound.conversations import change_identities, change_marketing_preferences
from workspaces.conversations.services.inbound.history import record_past_messages
from workspaces.conversations.services.inbound.receiving import open_windows, receive_messages, record_echoes
from workspaces.conversations.services.inbound.statuses import apply_read_watermarks, apply_statuses

__all__ = [
    "apply_out_of_order_changes",
    "apply_read_watermarks",
    "apply_statuses",
    "change_identities",
    "change_marketing_preferences",
    "change_reactions",
    "edit_comments",
    "edit_messages",
    "lock_channels",
    "open_windows",
    "receive_comments",
    "receive_messages",
    "record_echoes",
    "record_past_messages",
    "remove_comments",
    "remove_messages",
    "use_private_replies",
]
