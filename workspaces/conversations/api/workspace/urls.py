"""URLs of the workspace API about conversations and messages."""

from django.urls import path

from workspaces.conversations.api.workspace.views import (
    ConversationMessageViewSet,
    ConversationSettingsViewSet,
    ConversationViewSet,
    MessageViewSet,
    NoteViewSet,
    ReadingViewSet,
    UnreadingViewSet,
)

urlpatterns = [
    path("conversations", ConversationViewSet.as_view({"get": "list"}), name="conversations-list"),
    path("messages", MessageViewSet.as_view({"post": "create"}), name="messages-list"),
    path(
        "conversations/settings",
        ConversationSettingsViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="conversations-settings",
    ),
    path(
        "conversations/<id:conversation>",
        ConversationViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="conversations-detail",
    ),
    path(
        "conversations/<id:conversation>/read",
        ReadingViewSet.as_view({"post": "create"}),
        name="conversations-read-list",
    ),
    path(
        "conversations/<id:conversation>/unread",
        UnreadingViewSet.as_view({"post": "create"}),
        name="conversations-unread-list",
    ),
    path(
        "conversations/<id:conversation>/notes",
        NoteViewSet.as_view({"get": "list", "post": "create"}),
        name="conversations-notes-list",
    ),
    path(
        "conversations/<id:conversation>/messages",
        ConversationMessageViewSet.as_view({"get": "list", "post": "create"}),
        name="conversations-messages-list",
    ),
]
