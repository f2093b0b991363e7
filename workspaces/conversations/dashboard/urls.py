"""URLs of the dashboard's pages about conversations and messages, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.conversations.dashboard import changes, inbox, saved_replies, sending

urlpatterns = [
    path("inbox", inbox.Inbox.as_view(), name="inbox"),
    path("inbox/new", sending.NewConversation.as_view(), name="conversation-new"),
    path("inbox/stream", inbox.InboxStream.as_view(), name="inbox-stream"),
    path("inbox/selected", changes.ChangeConversations.as_view(), name="conversations-change"),
    path("inbox/<id:uuid>", inbox.ConversationPage.as_view(), name="conversation"),
    path("inbox/<id:uuid>/send", sending.SendMessage.as_view(), name="conversation-send"),
    path("inbox/<id:uuid>/insert", sending.InsertSavedReply.as_view(), name="conversation-insert"),
    path("inbox/<id:uuid>/saved-replies/<id:reply>", saved_replies.FilledReply.as_view(), name="conversation-reply"),
    path("inbox/<id:uuid>/messages/<id:message>/again", sending.SendAgain.as_view(), name="conversation-again"),
    path("inbox/<id:uuid>/notes", sending.AddNote.as_view(), name="conversation-note"),
    path("inbox/<id:uuid>/read", changes.ReadConversation.as_view(), name="conversation-read"),
    path("inbox/<id:uuid>/unread", changes.UnreadConversation.as_view(), name="conversation-unread"),
    path("inbox/<id:uuid>/assign", changes.AssignConversation.as_view(), name="conversation-assign"),
    path("inbox/<id:uuid>/status", changes.ConversationStatus.as_view(), name="conversation-status"),
    path("inbox/<id:uuid>/snooze", changes.SnoozeConversation.as_view(), name="conversation-snooze"),
    path("inbox/<id:uuid>/opt-out", changes.OptOut.as_view(), name="conversation-opt-out"),
    path("inbox/<id:uuid>/enter-key", changes.EnterKey.as_view(), name="conversation-enter-key"),
    path("unread", inbox.Unread.as_view(), name="unread"),
    path("saved-replies", saved_replies.SavedReplies.as_view(), name="saved-replies"),
    path("saved-replies/new", saved_replies.SavedReplyNew.as_view(), name="saved-reply-new"),
    path("saved-replies/<id:uuid>", saved_replies.SavedReplyPage.as_view(), name="saved-reply"),
    path("saved-replies/<id:uuid>/delete", saved_replies.SavedReplyDelete.as_view(), name="saved-reply-delete"),
]
