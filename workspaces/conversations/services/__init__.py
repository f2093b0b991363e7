"""The services of conversations and messages that other apps call."""

from workspaces.conversations.services.errors import ConversationNotFound
from workspaces.conversations.services.listing import shown_conversations, shown_messages
from workspaces.conversations.services.outbound.composing import (
    can_be_reached,
    is_window_open,
    reachable_channels,
    send_message,
    send_message_again,
    send_message_to_contact,
)
from workspaces.conversations.services.outbound.content import BegunAs, Content, TemplateCheck, template_checks
from workspaces.conversations.services.settings import change_opt_out_words, settings_of
from workspaces.conversations.services.team_inbox.changing import (
    ConversationChanges,
    change_conversation,
    find_team_member,
    mark_read,
    mark_unread,
)
from workspaces.conversations.services.team_inbox.notes import add_note
from workspaces.conversations.services.team_inbox.saved_replies import (
    SavedReplyNotFound,
    change_saved_reply,
    create_saved_reply,
    filled_reply,
    remove_saved_reply,
)
from workspaces.conversations.services.team_inbox.snoozing import snooze_conversation, wake_snoozed_conversations

__all__ = [
    "BegunAs",
    "Content",
    "ConversationChanges",
    "ConversationNotFound",
    "SavedReplyNotFound",
    "TemplateCheck",
    "add_note",
    "can_be_reached",
    "change_conversation",
    "change_opt_out_words",
    "change_saved_reply",
    "create_saved_reply",
    "filled_reply",
    "find_team_member",
    "is_window_open",
    "mark_read",
    "mark_unread",
    "reachable_channels",
    "remove_saved_reply",
    "send_message",
    "send_message_again",
    "send_message_to_contact",
    "settings_of",
    "shown_conversations",
    "shown_messages",
    "snooze_conversation",
    "template_checks",
    "wake_snoozed_conversations",
]
