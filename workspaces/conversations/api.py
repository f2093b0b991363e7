"""The workspace API about conversations, their messages and notes."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from config.api.filters import BooleanFilter, ChoiceFilter, FilterSet, UUIDFilter
from config.api.operations import object_response, operation, page_response
from workspaces.conversations.models import Conversation, Message, Note
from workspaces.conversations.serializers import (
    ConversationChangesSerializer,
    ConversationSerializer,
    ConversationSettingsSerializer,
    MessageContentSerializer,
    MessageSerializer,
    NewMessageSerializer,
    NewNoteSerializer,
    NoteSerializer,
    content_of,
)
from workspaces.conversations.services import (
    ConversationNotFound,
    add_note,
    change_conversation,
    change_opt_out_words,
    find_team_member,
    mark_read,
    mark_unread,
    send_message,
    send_message_to_contact,
    settings_of,
    shown_conversations,
    shown_messages,
)
from workspaces.conversations.services.conversations import count_conversations, newest_page
from workspaces.conversations.services.threads import sync_messages
from workspaces.subaccounts.api.surface import WorkspaceViewSet


class ConversationFilterSet(FilterSet):
    class Meta:
        model = Conversation
        fields = ()

    status = ChoiceFilter(choices=Conversation.Status.choices, help_text="Only conversations of this status.")
    channel = UUIDFilter(field_name="channel__uuid", help_text="Only conversations on this channel.")
    contact = UUIDFilter(field_name="contact__uuid", help_text="Only conversations with this contact.")
    unread = BooleanFilter(method="keep_unread", help_text="Only those with something unread, or with nothing.")

    def keep_unread(self, rows: "QuerySet[Conversation]", name: str, value: bool) -> "QuerySet[Conversation]":
        unread: dict[str, int] = {"unread_count__gt": 0} if value else {"unread_count": 0}
        return rows.filter(**unread)


SENDING_ERRORS = {
    409: "The contact has opted out or cannot be reached there, the channel is not connected, or the 24-hour window "
    "of the conversation is closed."
}


class ConversationViewSet(WorkspaceViewSet):
    """What contacts and the workspace write to each other: one conversation for each contact and channel."""

    lookup_url_kwarg = "conversation"
    not_found = ConversationNotFound

    def get_queryset(self) -> "QuerySet[Conversation]":
        return shown_conversations(Conversation.objects.of(self.workspace))

    @operation(
        operation_id="listConversations",
        summary="List the conversations, newest activity first",
        answer=page_response(ConversationSerializer),
        filters=ConversationFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        found = self.filtered(Conversation.objects.of(self.workspace))
        shown = newest_page(found, self.page.offset, self.page.size)
        wanted = ConversationFilterSet.values(self.parameters)
        total = count_conversations(self.workspace, found, wanted)
        return self.paged(ConversationSerializer(shown, many=True), total)

    @operation(
        operation_id="readConversation", summary="Read a conversation", answer=object_response(ConversationSerializer)
    )
    def retrieve(self, request: Request, conversation: UUID | None) -> HttpResponse:
        return self.answer(ConversationSerializer(self.get_object()))

    @operation(
        operation_id="changeConversation",
        summary="Open, close or assign a conversation; what is left out stays",
        request=ConversationChangesSerializer,
        answer=object_response(ConversationSerializer),
        errors={409: "Somebody else than `if_assigned_to` has the conversation."},
    )
    def partial_update(self, request: Request, conversation: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(ConversationChangesSerializer, partial=True).changes
        if changes.get("assigned_to") is not None:
            changes["assigned_to"] = find_team_member(self.workspace, changes["assigned_to"])
        if changes.get("if_assigned_to") is not None:
            find_team_member(self.workspace, changes["if_assigned_to"])
        changed = change_conversation(conversation=found, now=timezone.now(), **changes)
        return self.answer(ConversationSerializer(changed))


class ConversationPartViewSet(WorkspaceViewSet):
    """Something of one conversation, which the path names."""

    @property
    def conversation(self) -> Conversation:
        rows = shown_conversations(Conversation.objects.of(self.workspace))
        return self.find(rows, self.kwargs["conversation"], missing=ConversationNotFound)


class ReadingViewSet(ConversationPartViewSet):
    """Marks everything as read."""

    @operation(
        operation_id="readAllMessages",
        summary="Mark all of a conversation as read",
        answer=object_response(ConversationSerializer),
    )
    def create(self, request: Request, conversation: UUID | None) -> HttpResponse:
        changed = mark_read(conversation=self.conversation, now=timezone.now())
        return self.answer(ConversationSerializer(changed))


class UnreadingViewSet(ConversationPartViewSet):
    """Marks the last message that came in as unread."""

    @operation(
        operation_id="markUnread",
        summary="Mark the last message that came in as unread",
        answer=object_response(ConversationSerializer),
    )
    def create(self, request: Request, conversation: UUID | None) -> HttpResponse:
        changed = mark_unread(conversation=self.conversation, now=timezone.now())
        return self.answer(ConversationSerializer(changed))


class NoteViewSet(ConversationPartViewSet):
    """What colleagues tell each other in a conversation; contacts never see it."""

    @operation(operation_id="listNotes", summary="List the notes, newest first", answer=page_response(NoteSerializer))
    def list(self, request: Request, conversation: UUID | None) -> HttpResponse:
        rows = Note.objects.filter(conversation=self.conversation)
        return self.page_of(rows.order_by("-created_at", "-id"), NoteSerializer)

    @operation(
        operation_id="addNote",
        summary="Add a note",
        request=NewNoteSerializer,
        status=201,
        answer=object_response(NoteSerializer),
        idempotent=True,
    )
    def create(self, request: Request, conversation: UUID | None) -> HttpResponse:
        found = self.conversation
        wanted = self.validated(NewNoteSerializer).validated_data
        note = add_note(conversation=found, **wanted, now=timezone.now(), by=self.actor)
        return self.answer(NoteSerializer(note), status=201)


class ConversationMessageViewSet(ConversationPartViewSet):
    """The messages of a conversation."""

    @operation(
        operation_id="listMessages",
        summary="List the messages of a conversation, newest first",
        answer=page_response(MessageSerializer),
    )
    def list(self, request: Request, conversation: UUID | None) -> HttpResponse:
        found = self.conversation
        sync_messages(found)
        rows = Message.objects.filter(conversation=found)
        return self.page_of(shown_messages(rows).newest_first(), MessageSerializer)

    @operation(
        operation_id="sendMessage",
        summary="Send a message into a conversation",
        request=MessageContentSerializer,
        status=201,
        answer=object_response(MessageSerializer),
        errors=SENDING_ERRORS,
        idempotent=True,
        request_example={"text": "Yes, at eight."},
    )
    def create(self, request: Request, conversation: UUID | None) -> HttpResponse:
        found = self.conversation
        content = content_of(self.validated(MessageContentSerializer).validated_data)
        message = send_message(conversation=found, content=content, by=self.actor, now=timezone.now())
        return self.answer(MessageSerializer(message), status=201)


class MessageViewSet(WorkspaceViewSet):
    """Messages to contacts, whether they have a conversation yet or not."""

    @operation(
        operation_id="sendMessageToContact",
        summary="Send a message to a contact; opens the conversation where there is none",
        request=NewMessageSerializer,
        status=201,
        answer=object_response(MessageSerializer),
        errors={**SENDING_ERRORS, 404: "No such contact, channel or file."},
        idempotent=True,
        request_example={
            "contact": "f1a7d0a4-6a09-4a4e-9d77-1c3f5f0d7a11",
            "channel": "0d1c9c43-3b0c-4cf3-8d40-6d4a3a2b1c0f",
            "template": "appointment_reminder",
            "language": "en_US",
            "components": [],
        },
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(NewMessageSerializer).validated_data
        message = send_message_to_contact(
            workspace=self.workspace,
            contact=wanted["contact"],
            channel=wanted["channel"],
            content=content_of(wanted),
            by=self.actor,
            now=timezone.now(),
        )
        return self.answer(MessageSerializer(message), status=201)


class ConversationSettingsViewSet(WorkspaceViewSet):
    """What the workspace chooses for its conversations."""

    @operation(
        operation_id="readConversationSettings",
        summary="Read the settings of conversations",
        answer=object_response(ConversationSettingsSerializer),
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return self.answer(ConversationSettingsSerializer(settings_of(self.workspace)))

    @operation(
        operation_id="changeConversationSettings",
        summary="Choose words that opt contacts out",
        request=ConversationSettingsSerializer,
        answer=object_response(ConversationSettingsSerializer),
    )
    def update(self, request: Request) -> HttpResponse:
        words = self.validated(ConversationSettingsSerializer).validated_data["opt_out_words"]
        changed = change_opt_out_words(workspace=self.workspace, words=words, by=self.actor)
        return self.answer(ConversationSettingsSerializer(changed))


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
