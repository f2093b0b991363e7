"""The services of conversations and messages that other apps call."""

from workspaces.conversations.services.changing import (
    ConversationChanges,
    add_note,
    change_conversation,
    find_team_member,
    mark_read,
    mark_unread,
    snooze_conversation,
    wake_snoozed_conversations,
)
from workspaces.conversations.services.content import ComposerMode, Content, TemplateCheck, template_checks
from workspaces.conversations.services.conversations import (
    ConversationNotFound,
    open_conversation,
    shown_conversations,
    shown_messages,
)
from workspaces.conversations.services.opt_out_words import change_opt_out_words, settings_of
from workspaces.conversations.services.saved_replies import (
    SavedReplyNotFound,
    change_saved_reply,
    create_saved_reply,
    filled_reply,
    remove_saved_reply,
)
from workspaces.conversations.services.sending import (
    can_be_reached,
    is_window_open,
    reachable_channels,
    send_message,
    send_message_again,
    send_message_to_contact,
)

__all__ = [
    "ComposerMode",
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
    "open_conversation",
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
