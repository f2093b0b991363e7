"""Callbacks as providers write them, and what is read in them."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from channelconnect.providers.notices.events import ReadContext
from channelconnect.providers.notices.parsing import Fact, notice_of, read_notice
from workspaces.conversations.facts import ChannelReference

AT = datetime.fromtimestamp(1790000000, UTC)
CAME_AT = datetime.fromtimestamp(1790000009, UTC)
NUMBER, PAGE, INSTAGRAM = "4001", "6001", "7001"


def channel(platform: str, pk: int) -> ChannelReference:
    return ChannelReference(id=pk, platform=platform, workspace_id=1, workspace_uuid=UUID(int=1), agency_id=1)


WHATSAPP = channel("whatsapp", 11)
CHANNELS = {
    ("whatsapp", NUMBER): WHATSAPP,
    ("facebook", PAGE): channel("facebook", 12),
    ("instagram", INSTAGRAM): channel("instagram", 13),
}


def read(body: bytes) -> list[Fact]:
    """Read a body that came for one of `CHANNELS`."""
    return read_notice(notice_of(body), ReadContext(CHANNELS, CAME_AT))


def whatsapp(field: str, value: dict[str, Any], container: str = "2001") -> bytes:
    changes = [{"field": field, "value": value}]
    entry = [{"id": container, "time": 1790000000, "changes": changes}]
    return json.dumps({"object": "whatsapp_business_account", "entry": entry}).encode()


def of_number(field: str = "messages", number: str = NUMBER, **value: Any) -> bytes:
    metadata = {"phone_number_id": number, "display_phone_number": "49301234"}
    return whatsapp(field, {"messaging_product": "whatsapp", "metadata": metadata, **value})


def message(**more: Any) -> dict[str, Any]:
    """A WhatsApp message of somebody's."""
    return {"from": "491701234567", "id": "wamid.Y", "timestamp": "1790000000", **more}


def page(event: dict[str, Any], kind: str = "page", where: str = "messaging") -> bytes:
    account = PAGE if kind == "page" else INSTAGRAM
    ends = {"sender": {"id": "91"}, "recipient": {"id": account}, "timestamp": 1790000000000}
    entry = [{"id": account, "time": 1790000000000, where: [ends | event]}]
    return json.dumps({"object": kind, "entry": entry}).encode()
