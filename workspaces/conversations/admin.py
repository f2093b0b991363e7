"""Read-only pages of the support admin about conversations and messages, without the messages' content."""

from django.contrib import admin
from django.db.models import QuerySet

from agency.admin.base import ReadOnlyAdmin, by_uuid
from workspaces.conversations.models import Conversation, Message


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "status", "channel", "unread_count", "updated_at", "uuid")
    list_select_related = ("workspace", "channel")
    search_help_text = "The conversation's uuid."
    fields = (
        "uuid",
        "workspace",
        "channel",
        "status",
        "assigned_to",
        "unread_count",
        "last_message_at",
        "last_message_direction",
        "last_inbound_at",
        "created_at",
        "updated_at",
    )

    def search(self, queryset: "QuerySet[Conversation]", term: str) -> "QuerySet[Conversation]":
        return by_uuid(queryset, term)


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ("type", "status", "direction", "error_code", "created_at", "uuid")
    search_help_text = "The message's uuid."
    fields = (
        "uuid",
        "conversation",
        "direction",
        "type",
        "status",
        "error_code",
        "error_message",
        "provider_message_id",
        "sent_by_kind",
        "provider_time",
        "created_at",
        "sent_at",
        "delivered_at",
        "read_at",
        "edited_at",
        "removed_at",
    )

    def search(self, queryset: "QuerySet[Message]", term: str) -> "QuerySet[Message]":
        return by_uuid(queryset, term)
