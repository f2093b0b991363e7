"""Reads the statuses of messages that were sent over WhatsApp."""

from datetime import datetime
from typing import Final

from channelconnect.providers.graph.parsing import Row, row, text
from channelconnect.providers.notices.events import Unknown
from channelconnect.providers.notices.people import Contacts
from channelconnect.providers.notices.values import LONGEST_ID, error_of, moment
from workspaces.conversations.facts import ChannelReference, StatusChanged

# A voice message that was played counts as read. Any other status (deleted, warning) changes no message of ours.
STATUSES: Final = {"sent": "sent", "delivered": "delivered", "read": "read", "played": "read", "failed": "failed"}


def read_status(
    status: Row, channel: ChannelReference, contacts: Contacts, at: datetime
) -> StatusChanged | Unknown | None:
    """Return a status as a fact; None if it names no message or nobody."""
    name = status.get("status")
    known = STATUSES.get(name) if isinstance(name, str) else None
    if known is None:
        return Unknown(platform="whatsapp", kind=f"status.{text(name)}")
    if status.get("recipient_type") == "group":
        return Unknown(platform="whatsapp", kind="group")
    message_id, opaque = text(status.get("id"), LONGEST_ID), text(status.get("biz_opaque_callback_data"), LONGEST_ID)
    person = contacts.person(status.get("recipient_id"), status.get("recipient_user_id"))
    if person is None or not (message_id or opaque):
        return None
    pricing = row(status.get("pricing"))
    billable = pricing.get("billable")
    code, message = error_of(status.get("errors")) if known == "failed" else ("", "")
    return StatusChanged(
        channel=channel,
        person=person,
        at=moment(status.get("timestamp")) or at,
        message_id=message_id,
        status=known,
        opaque=opaque,
        error_code=code,
        error_message=message,
        is_billable=billable if isinstance(billable, bool) else None,
        category=text(pricing.get("category")),
    )
