"""The dashboard's pages about conversations and messages, below `/app/` and in the namespace `app`."""

from django.urls import path

import config.api.requests.ids  # noqa: F401 - makes `<id:…>` known
from workspaces.conversations.dashboard.views import actions, inbox

urlpatterns = [
    path("inbox", inbox.Inbox.as_view(), name="inbox"),
    path("inbox/stream", inbox.InboxStream.as_view(), name="inbox-stream"),
    path("inbox/<id:uuid>", inbox.ConversationPage.as_view(), name="conversation"),
    path("inbox/<id:uuid>/send", actions.SendMessage.as_view(), name="conversation-send"),
    path("inbox/<id:uuid>/read", actions.ReadConversation.as_view(), name="conversation-read"),
    path("inbox/<id:uuid>/unread", actions.UnreadConversation.as_view(), name="conversation-unread"),
    path("inbox/<id:uuid>/assign", actions.AssignConversation.as_view(), name="conversation-assign"),
    path("inbox/<id:uuid>/status", actions.ConversationStatus.as_view(), name="conversation-status"),
    path("inbox/<id:uuid>/notes", actions.AddNote.as_view(), name="conversation-note"),
]
