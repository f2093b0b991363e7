"""Conversations, messages and notes, as the workspace surface and its events show them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from config.api.fields import ChoiceField, DateTimeField, DictField, IntegerField, ListField, URLField, UUIDField
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField, EmailField, can_be_stored
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.conversations import LONGEST_NOTE, LONGEST_OPT_OUT_WORD, MOST_OPT_OUT_WORDS
from workspaces.conversations.models.messages import Direction, MediaFetch, Status, Type
from workspaces.conversations.services import Content
from workspaces.media.models import Media
from workspaces.media.services.errors import MediaNotFound
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import ChannelNotFound

KINDS = ("text", "media", "template")
PARTS = {"caption": "media", "language": "template", "components": "template"}


def check_content_parts(sent: dict[str, Any]) -> None:
    """Refuse content unless it is exactly one of text, media and template, with fitting parts."""
    kinds = [kind for kind in KINDS if sent.get(kind)]
    if not kinds:
        raise serializers.ValidationError({"text": ["One of text, media and template is required."]})
    if len(kinds) > 1:
        raise serializers.ValidationError({kinds[1]: [f"The {kinds[1]} field cannot be sent along with {kinds[0]}."]})
    for part, kind in PARTS.items():
        if sent.get(part) and kind != kinds[0]:
            raise serializers.ValidationError({part: [f"The {part} field goes with {kind} only."]})
    if not can_be_stored(sent.get("components")):
        raise serializers.ValidationError(
            {"components": ["The components field holds characters or numbers that cannot be stored."]}
        )
    if kinds == ["template"] and not sent.get("language"):
        raise serializers.ValidationError({"language": ["The language field is required."]})


def content_of(sent: dict[str, Any]) -> Content:
    """Return the content of a valid request body."""
    if sent.get("template"):
        template = {"name": sent["template"], "language": sent["language"], "components": sent.get("components") or []}
        return Content(template=template)
    if sent.get("media"):
        return Content(text=sent.get("caption") or "", media=sent["media"])
    return Content(text=sent["text"])


LONGEST_TEXT = 4_096
LONGEST_CAPTION = 1_024
MOST_COMPONENTS = 20


def contacts_of_caller(context: Mapping[str, Any]) -> "QuerySet[Contact]":
    return Contact.objects.of(context["view"].workspace)


def channels_of_caller(context: Mapping[str, Any]) -> "QuerySet[Channel]":
    return Channel.objects.filter(workspace=context["view"].workspace)


def media_of_caller(context: Mapping[str, Any]) -> "QuerySet[Media]":
    return Media.objects.of(context["view"].workspace).with_agency()


class ConversationChannelSerializer(Serializer):
    """The channel of a conversation."""

    id = UUIDField(source="uuid")
    platform = CharField(example="whatsapp")
    name = CharField(example="Corner Salon")


class ConversationContactSerializer(Serializer):
    """The contact of a conversation."""

    id = UUIDField(source="uuid")
    name = CharField(blank_as_null=True, example="Ada")
    phone = CharField(allow_null=True, example="+4930123456")


class TeamMemberSerializer(Serializer):
    """A member of the team."""

    name = CharField(example="Ben")
    email = EmailField(example="ben@example.com")


class LastMessageSerializer(Serializer):
    """The last message of a conversation; `text` is its beginning."""

    id = UUIDField()
    direction = ChoiceField(Direction.choices)
    type = ChoiceField(Type.choices)
    text = CharField(example="Do you have a free table tonight?")
    created_at = DateTimeField(help_text="When it was written, by the network's clock.")


class ConversationSerializer(Serializer):
    """What a contact and the workspace write to each other on one channel."""

    id = UUIDField(source="uuid")
    channel = ConversationChannelSerializer()
    contact = ConversationContactSerializer()
    status = ChoiceField(Conversation.Status.choices)
    assigned_to = TeamMemberSerializer(allow_null=True)
    unread_count = IntegerField(example=1)
    last_message = LastMessageSerializer(source="shown_last_message", allow_null=True)
    window_expires_at = DateTimeField(
        allow_null=True,
        help_text="Until when texts and files may be sent; null where the contact has never written, or the network "
        "has no such window.",
        example="2026-11-21T09:30:00Z",
    )
    created_at = DateTimeField()
    updated_at = DateTimeField(help_text="The newest activity.")


class ConversationChangesSerializer(Serializer):
    """What can be changed of a conversation."""

    status = ChoiceField(Conversation.Status.choices)
    assigned_to = EmailField(allow_null=True, help_text="A team member, or null for nobody.", example=None)
    if_assigned_to = EmailField(
        allow_null=True,
        help_text="Changes only while this team member, or with null nobody, has the conversation; else 409.",
        example=None,
    )


class MessageMediaSerializer(Serializer):
    """The file of a message."""

    id = UUIDField(source="uuid")
    url = URLField(example="https://app.example.com/media/uBqmT1mD0b5mZ0fV6W2xkqJc3m8y9QeR7tYhLpN4sAE/menu.pdf")
    filename = CharField(example="menu.pdf")
    content_type = CharField(example="application/pdf")
    size = IntegerField(example=48_213)


class MessageErrorSerializer(Serializer):
    """Why a message was not delivered."""

    code = CharField(example="131026")
    message = CharField(example="The message could not be delivered.")


class SenderSerializer(Serializer):
    """Who sent a message: the contact, a key, a person, the system, an automation, or another app (`elsewhere`)."""

    kind = ChoiceField(["contact", "workspace_key", "user", "staff", "system", "automation", "broadcast", "elsewhere"])
    label = CharField(example="Shop")  # type: ignore[assignment]  # the field's own name


class ReactionSerializer(Serializer):
    """A reaction to a message."""

    by = CharField(example="contact")
    emoji = CharField(example="👍")
    at = DateTimeField()


class MessageTemplateSerializer(Serializer):
    """The template that a message was made of."""

    name = CharField(example="appointment_reminder")
    language = CharField(example="en_US")
    components = ListField(
        child=DictField(), example=[{"type": "body", "parameters": [{"type": "text", "text": "Ada"}]}]
    )


class MessageSerializer(Serializer):
    """A message of a conversation, in either direction."""

    id = UUIDField(source="uuid")
    conversation_id = UUIDField(source="conversation.uuid")
    direction = ChoiceField(Direction.choices)
    type = ChoiceField(Type.choices)
    text = CharField(example="Do you have a free table tonight?", help_text="A text, a caption, a button's title.")
    media = MessageMediaSerializer(allow_null=True)
    media_status = ChoiceField(
        MediaFetch.Status.choices,
        allow_null=True,
        help_text="What became of a file that came in: `pending` until it is fetched, `ready`, `failed`, `expired` "
        "where the network has it no longer, `not_kept` where it may not be kept; else null.",
    )
    template = MessageTemplateSerializer(allow_null=True)
    details = DictField(
        help_text="What the type carries beside its text, as far as the network told: `location`, `contacts`, "
        "`payload` of a button, `reply_to`, `referral`, `unsupported`. Of a message that went out: `interactive` has "
        "the options or the link below its text, `comment_reply` and `public_reply` the comment that it answers.",
        example={"reply_to": "wamid.HBgM"},
    )
    reactions = ReactionSerializer(many=True, source="shown_reactions")
    status = ChoiceField(Status.choices)
    error = MessageErrorSerializer(source="shown_error", allow_null=True)
    provider_message_id = CharField(allow_null=True, example="wamid.HBgNNDkzMDEyMzQ1NhUCABIYFjNFQjA")
    sent_by = SenderSerializer(source="sender")
    created_at = DateTimeField()
    provider_time = DateTimeField(help_text="When it was written, by the network's clock: the order of a conversation.")
    sent_at = DateTimeField(allow_null=True)
    delivered_at = DateTimeField(allow_null=True)
    read_at = DateTimeField(allow_null=True)
    edited_at = DateTimeField(allow_null=True, help_text="When its writer changed the text.")
    removed_at = DateTimeField(allow_null=True, help_text="When its writer took it back: its content is gone.")


class MessageContentSerializer(Serializer):
    """One of: `text`; `media`, with a `caption` perhaps; `template`, with its `language` and `components`."""

    text = CharField(max_length=LONGEST_TEXT, multiline=True, required=False, example="Yes, at eight.")
    media = TenantRelatedField(
        queryset=media_of_caller,
        missing=MediaNotFound,
        representation=MessageMediaSerializer(),
        required=False,
        help_text="The id of a file of the workspace's.",
    )
    caption = CharField(max_length=LONGEST_CAPTION, multiline=True, required=False)
    template = CharField(max_length=512, required=False, help_text="The name of a template of the channel's.")
    language = CharField(max_length=20, required=False, help_text="The template's language, such as en_US.")
    components = ListField(
        child=DictField(),
        required=False,
        max_length=MOST_COMPONENTS,
        help_text="What fills the template's parameters, in WhatsApp's own form.",
    )

    def validate(self, sent: dict[str, Any]) -> dict[str, Any]:
        check_content_parts(sent)
        return sent


class NewMessageSerializer(MessageContentSerializer):
    """A message to a contact, who may have no conversation on the channel yet."""

    contact = TenantRelatedField(
        queryset=contacts_of_caller, missing=ContactNotFound, representation=ConversationContactSerializer()
    )
    channel = TenantRelatedField(
        queryset=channels_of_caller, missing=ChannelNotFound, representation=ConversationChannelSerializer()
    )


class NoteSerializer(Serializer):
    """A note that colleagues leave in a conversation."""

    id = UUIDField(source="uuid")
    text = CharField(example="Prefers a table at the window.")
    author = SenderSerializer()
    created_at = DateTimeField()


class NewNoteSerializer(Serializer):
    """A note that is to be added."""

    text = CharField(max_length=LONGEST_NOTE, multiline=True, example="Prefers a table at the window.")


class ConversationSettingsSerializer(Serializer):
    """What a workspace chooses for its conversations."""

    opt_out_words = ListField(
        child=CharField(max_length=LONGEST_OPT_OUT_WORD, example="stopp"),
        max_length=MOST_OPT_OUT_WORDS,
        help_text="Words that, as a whole message, opt a contact out as STOP, STOPALL, UNSUBSCRIBE, REVOKE and "
        "OPT OUT do.",
    )
