"""Broadcasts and their recipients, as the workspace surface and its events show them."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from broadcasts.models import Broadcast, Recipient
from broadcasts.models.broadcasts import LONGEST_NAME, MOST_CONTACTS, BroadcastQuerySet
from broadcasts.services.editing import MOST_TESTED
from broadcasts.services.errors import BroadcastNotFound
from config.api.fields import (
    BooleanField,
    ChoiceField,
    DateTimeField,
    DictField,
    Field,
    IntegerField,
    ListField,
    UUIDField,
)
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField
from workspaces.conversations.serializers import (
    LONGEST_TEXT,
    MOST_COMPONENTS,
    ConversationChannelSerializer,
    ConversationContactSerializer,
    channels_of_caller,
)
from workspaces.subaccounts.services import ChannelNotFound

MOST_PARAMETERS = 10
LONGEST_PARAMETER = 1_024
LONGEST_URL = 2_048
LONGEST_FILENAME = 200
A_BROADCAST = "5d2f7a10-3c1b-4c7f-9a52-6f0f3f0f8a11"
A_CONTACT = "f1a7d0a4-6a09-4a4e-9d77-1c3f5f0d7a11"
COMPONENTS = [{"type": "body", "parameters": [{"type": "text", "text": "{{contact.first_name}}"}]}]
RETARGETED = "What people did with the source broadcast; required with `retarget`."


def broadcasts_of_caller(context: Mapping[str, Any]) -> BroadcastQuerySet:
    return Broadcast.objects.of(context["view"].workspace)


class UnjudgedTimeField(DateTimeField):
    """A time that the service judges, as whether it is read at all depends on another field."""

    def to_internal_value(self, data: object) -> Any:
        return data


class UnjudgedTextField(Field, serializers.CharField):
    """A text that the service judges, for the same reason."""

    def run_validation(self, data: object = serializers.empty) -> object:
        return super(serializers.CharField, self).run_validation(data)

    def to_internal_value(self, data: object) -> object:
        return data


class MessageHeaderSerializer(Serializer):
    """What fills the header of a template."""

    url = CharField(
        max_length=LONGEST_URL,
        required=False,
        allow_null=True,
        help_text="A public https link of the image, video or document. Variables in it are filled in for each "
        "recipient.",
        example="https://shop.example.com/menus/{{fields.branch}}.pdf",
    )
    filename = CharField(
        max_length=LONGEST_FILENAME,
        required=False,
        allow_null=True,
        help_text="The name that people see of a document.",
        example="Menu.pdf",
    )
    parameters = ListField(
        child=CharField(max_length=LONGEST_PARAMETER, example="{{contact.first_name}}"),
        max_length=MOST_PARAMETERS,
        required=False,
        help_text="What stands for the variables of a text header, in their order.",
        example=[],
    )


class BroadcastMessageSerializer(Serializer):
    """Either `text`, or `template` with its `language` and what fills it."""

    template = CharField(
        max_length=512,
        required=False,
        allow_null=True,
        help_text="The name of an approved template of the channel's.",
        example="summer_sale",
    )
    language = CharField(
        max_length=20, required=False, allow_null=True, help_text="The template's language.", example="en_US"
    )
    components = ListField(
        child=DictField(),
        required=False,
        max_length=MOST_COMPONENTS,
        help_text="What fills the template's body and buttons, in WhatsApp's own form. Texts may hold variables.",
        example=COMPONENTS,
    )
    text = CharField(
        max_length=LONGEST_TEXT,
        multiline=True,
        required=False,
        allow_null=True,
        help_text="A text of your own; it reaches only those who wrote to you within the last 24 hours.",
        example=None,
    )
    track_clicks = BooleanField(
        required=False,
        default=True,
        help_text="Whether links in `text` and in the template's parameters become tracked ones.",
        example=True,
    )
    header = MessageHeaderSerializer(required=False, allow_null=True)


class AudienceSerializer(Serializer):
    """Whom a broadcast goes to."""

    type = ChoiceField(["segment", "contacts"], example="segment")
    segment = CharField(
        max_length=60, required=False, allow_null=True, help_text="`all`, or the id of a segment.", example="all"
    )
    contacts = ListField(
        child=UUIDField(example=A_CONTACT),
        max_length=MOST_CONTACTS,
        required=False,
        help_text=f"Ids of contacts, at most {MOST_CONTACTS:,}.",
        example=[],
    )


class ShownAudienceSerializer(Serializer):
    """Whom a broadcast goes to."""

    type = ChoiceField(["segment", "contacts"], example="segment")
    segment = CharField(allow_null=True, example="all")
    contacts = ListField(
        child=UUIDField(example=A_CONTACT),
        allow_null=True,
        help_text="The contacts that were chosen. Null in lists of several broadcasts, which name their number only.",
        example=None,
    )
    contacts_count = IntegerField(allow_null=True, example=None)


class CountsSerializer(Serializer):
    """How many recipients stand under each status; each recipient once."""

    def get_fields(self) -> dict[str, Any]:
        examples = {"pending": 120, "sent": 40, "delivered": 610, "read": 214, "failed": 6, "skipped": 10}
        return {status: IntegerField(example=examples[status]) for status in Recipient.Status.values}


class BroadcastSerializer(Serializer):
    """A message to many contacts."""

    id = UUIDField(source="uuid", example=A_BROADCAST)
    name = CharField(example="Summer sale")
    type = ChoiceField(Broadcast.Type.choices)
    channel = ConversationChannelSerializer()
    status = ChoiceField(Broadcast.Status.choices, example="sending")
    paused_reason = CharField(
        allow_null=True, help_text="Why it was paused, where the product did that itself.", example=None
    )
    audience = ShownAudienceSerializer(source="progress.audience", allow_null=True)
    message = BroadcastMessageSerializer()
    timezone_mode = ChoiceField(Broadcast.TimezoneMode.choices, example="fixed")
    scheduled_at = DateTimeField(
        allow_null=True,
        help_text="When it is sent; with the contacts' own time the anchor, their wall clock at UTC+14.",
        example="2026-12-01T09:00:00Z",
    )
    scheduled_local_at = CharField(allow_null=True, example=None)
    requires_approval = BooleanField(example=False)
    approved_at = DateTimeField(allow_null=True, example=None)
    source_broadcast_id = UUIDField(source="source_uuid", allow_null=True, example=None)
    retarget_engagement = ChoiceField(Broadcast.Engagement.choices, allow_null=True, example=None)
    recipients_count = IntegerField(help_text="As many as are known: all of them once it is prepared.", example=1_000)
    counts = CountsSerializer(source="progress.counts")
    held_count = IntegerField(
        source="progress.held_count",
        help_text="How many of the pending wait for room in the number's messaging limit.",
        example=80,
    )
    clicks_count = IntegerField(
        source="progress.clicks_count", help_text="How many recipients followed a tracked link.", example=97
    )
    next_wave_at = DateTimeField(
        source="progress.next_wave_at",
        allow_null=True,
        help_text="When the next recipients are due.",
        example="2026-12-02T09:00:00Z",
    )
    last_wave_at = DateTimeField(
        source="progress.last_wave_at",
        allow_null=True,
        help_text="When the last of them are expected to be due.",
        example="2026-12-02T09:00:00Z",
    )
    created_at = DateTimeField()
    started_at = DateTimeField(allow_null=True)
    completed_at = DateTimeField(allow_null=True, example=None)


class TimingSerializer(Serializer):
    """When a broadcast is sent; what is left out stays as the broadcast has it."""

    timezone_mode = ChoiceField(
        Broadcast.TimezoneMode.choices,
        required=False,
        help_text="`fixed`, the default: everybody at one moment. `contact`: at a wall clock in each contact's own "
        "zone.",
        example="fixed",
    )
    scheduled_at = UnjudgedTimeField(
        required=False,
        help_text="With `fixed`: when it is sent. One in the past, or none, is sent at once. Not read with `contact`.",
        example="2026-12-01T09:00:00Z",
    )
    scheduled_local_at = UnjudgedTextField(
        required=False,
        help_text="With `contact`, and required then: a wall clock without an offset. Not read with `fixed`.",
        example="2026-12-01 09:00:00",
    )


SHOWN_FIRST = ("name", "channel", "audience", "message", "scheduled_at")


class BroadcastFieldsSerializer(Serializer):
    """What an author says of a broadcast."""

    name = CharField(max_length=LONGEST_NAME, example="Summer sale")
    channel = TenantRelatedField(
        queryset=channels_of_caller,
        missing=ChannelNotFound,
        representation=ConversationChannelSerializer(),
        help_text="The id of a connected WhatsApp, Messenger or Instagram channel.",
    )
    type = ChoiceField(Broadcast.Type.choices, required=False, help_text="By default `contact`.", example="contact")
    audience = AudienceSerializer(
        required=False, allow_null=True, help_text="Required unless `type` is `retarget`, which has its own."
    )
    message = BroadcastMessageSerializer()
    timezone_mode = ChoiceField(
        Broadcast.TimezoneMode.choices,
        required=False,
        help_text="`fixed`, the default: everybody at one moment. `contact`: at a wall clock in each contact's own "
        "zone.",
        example="fixed",
    )
    scheduled_at = UnjudgedTimeField(
        required=False,
        allow_null=True,
        help_text="With `fixed`: when it is sent. One in the past, or none, is sent at once when it is scheduled. "
        "Not read with `contact`.",
        example="2027-06-01T09:00:00Z",
    )
    scheduled_local_at = UnjudgedTextField(
        required=False,
        allow_null=True,
        help_text="With `contact`, and required then: a wall clock without an offset. Not read with `fixed`.",
        example="2026-12-01 09:00:00",
    )
    requires_approval = BooleanField(
        required=False, help_text="With true nothing is sent before somebody approves it.", example=False
    )
    source_broadcast_id = TenantRelatedField(
        source="source_broadcast",
        queryset=broadcasts_of_caller,
        missing=BroadcastNotFound,
        representation=BroadcastSerializer(),
        required=False,
        allow_null=True,
        help_text="The earlier broadcast; required with `retarget`.",
        example=None,
    )
    retarget_engagement = ChoiceField(
        Broadcast.Engagement.choices, required=False, allow_null=True, help_text=RETARGETED, example=None
    )

    @classmethod
    def request_example(cls) -> dict[str, object]:
        """Give a broadcast that can be sent as it stands: not every field goes with every other."""
        whole = super().request_example()
        message = {name: whole["message"][name] for name in ("template", "language", "components")}
        audience = {"type": "segment", "segment": "all"}
        return {name: whole[name] for name in SHOWN_FIRST} | {"audience": audience, "message": message}


class NewBroadcastSerializer(BroadcastFieldsSerializer):
    """A broadcast to be created."""

    schedule = BooleanField(
        required=False, default=False, help_text="With true it is scheduled, else a draft.", example=True
    )


class BroadcastChangesSerializer(BroadcastFieldsSerializer):
    """What can be changed of a draft. Audience and message are replaced as a whole."""

    schedule = BooleanField(
        required=False,
        allow_null=True,
        help_text="True is refused: a change schedules nothing, `POST /broadcasts/{broadcast}/schedule` does.",
        example=False,
    )

    def validate_schedule(self, value: bool | None) -> None:
        if value:
            raise serializers.ValidationError(
                "A change schedules nothing. Call POST /broadcasts/{broadcast}/schedule, with the time perhaps."
            )


class TestSerializer(Serializer):
    """Whom to send a broadcast to as a test."""

    contacts = ListField(
        child=UUIDField(example=A_CONTACT),
        min_length=1,
        max_length=MOST_TESTED,
        distinct=True,
        help_text="Ids of contacts.",
        example=[A_CONTACT],
    )


class RecipientErrorSerializer(Serializer):
    """Why a message was not delivered."""

    code = CharField(example="131026")
    message = CharField(allow_null=True, example="Message undeliverable")
    details = CharField(allow_null=True, example=None)


class RecipientSerializer(Serializer):
    """A contact whom a broadcast goes to."""

    id = UUIDField(source="uuid", example="0d0f2c54-0c0e-5c4e-8f35-4c1ce1a0b6c4")
    contact = ConversationContactSerializer(
        source="shown_contact",
        allow_null=True,
        help_text="Null where the contact was deleted. `phone` is the number that is, or was, written to, also when "
        "the contact has another one since.",
    )
    status = ChoiceField(Recipient.Status.choices, example="delivered")
    skip_reason = ChoiceField(
        Recipient.SkipReason.choices, allow_null=True, help_text="Why nothing was sent; else null.", example=None
    )
    provider_message_id = CharField(allow_null=True, example="wamid.HBgNNDkzMDEyMzQ1NhUCABIYFjNFQjA")
    error = RecipientErrorSerializer(source="shown_error", allow_null=True)
    sends_at = DateTimeField(help_text="When it is, or was, to be sent.")
    sent_at = DateTimeField(allow_null=True)
    delivered_at = DateTimeField(allow_null=True)
    read_at = DateTimeField(allow_null=True)
    clicked_at = DateTimeField(allow_null=True)
    created_at = DateTimeField()


class BroadcastReferenceSerializer(Serializer):
    """A broadcast as events about its recipients name it."""

    id = UUIDField(source="uuid", example=A_BROADCAST)
    name = CharField(example="Summer sale")
