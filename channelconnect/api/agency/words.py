"""What an agency writes about connecting channels."""

from channelconnect.models.sessions import Platform
from config.api.fields import Choice, Items, Opaque, Text, Uuid
from config.api.words import Words

LONGEST_URL = 2_048


class ReturnUrls(Words):
    """Where the customer's browser may return to; replaces the whole list."""

    return_urls = Items(child=Text(max_length=LONGEST_URL), max_length=20)


class NewConnection(Words):
    """What to connect; with `channel_id` an existing channel is connected again."""

    platform = Choice(Platform.choices)
    return_url = Text(max_length=LONGEST_URL)
    state = Opaque(max_length=500, required=False, allow_null=True)
    channel_id = Uuid(required=False, allow_null=True)
