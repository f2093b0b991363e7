"""Message templates as a provider has told of them."""

from typing import Any

from channelconnect.models import ChannelCredential, MessageTemplate
from workspaces.subaccounts.models import Channel

BODY_PARAMETER = {"component": "body", "index": 1, "name": None, "type": "text", "example": "Ada"}


def a_message_template(channel: Channel, *, text: str = "The sale begins.", **fields: Any) -> MessageTemplate:
    """An approved template of the account that the channel belongs to, which is a body alone unless it is said."""
    credential, _ = ChannelCredential.objects.get_or_create(
        channel=channel, defaults={"token": "a token", "container_id": f"container-{channel.pk}"}
    )
    usual = {"name": "sale", "language": "en", "category": "marketing", "status": "approved"}
    body = {"components": [{"type": "BODY", "text": text}]}
    made: MessageTemplate = MessageTemplate.objects.create(
        container_id=credential.container_id, **{**usual, **body, **fields}
    )
    return made
