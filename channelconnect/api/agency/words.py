"""What an agency writes about connecting channels."""

from channelconnect.models.sessions import Platform
from config.api.fields import CharField, ChoiceField, ListField, OpaqueField, UUIDField
from config.api.serializers import Serializer

LONGEST_URL = 2_048


class ReturnUrls(Serializer):
    return_urls = ListField(child=CharField(max_length=LONGEST_URL), max_length=20)


class NewConnection(Serializer):
    platform = ChoiceField(Platform.choices)
    return_url = CharField(max_length=LONGEST_URL)
    state = OpaqueField(max_length=500, required=False, allow_null=True)
    channel_id = UUIDField(required=False, allow_null=True)
