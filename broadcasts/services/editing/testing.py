"""Tests a broadcast: it is sent to a few contacts at once, as messages in their conversations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from agency.actors import Actor
from broadcasts.content import VARIABLE, filled, variables_in
from broadcasts.models import Broadcast
from broadcasts.services.editing.fields.messages import WrittenMessage, write_message
from broadcasts.services.editing.fields.variables import contact_value, with_settings
from broadcasts.services.errors import BroadcastRefused
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.conversations.models import Message
from workspaces.conversations.services import Content, send_message_to_contact

MOST_TESTED: Final = 5


@transaction.atomic
def send_test(*, broadcast: Broadcast, contacts: Sequence[UUID], now: datetime, by: Actor) -> list[Message]:
    """Send a broadcast to a few contacts now, whatever its status. No count includes them, and links are not tracked.

    All messages are sent or none. Raises `ContactNotFound`, `BroadcastRefused` for a contact without a value for a
    variable, and the errors of `send_message_to_contact`.
    """
    channel, workspace = broadcast.channel, broadcast.workspace
    known = {one.uuid: one for one in Contact.objects.of(workspace).filter(uuid__in=contacts)}
    if len(known) < len(contacts):
        raise ContactNotFound
    written = write_message(broadcast.message, channel)
    return [
        send_message_to_contact(
            workspace=workspace,
            contact=known[contact],
            channel=channel,
            content=_content(written, broadcast, known[contact], number),
            by=by,
            now=now,
        )
        for number, contact in enumerate(contacts)
    ]


def _content(written: WrittenMessage, broadcast: Broadcast, contact: Contact, number: int) -> Content:
    message = with_settings(written.template or written.text, broadcast.workspace)
    values = {name: contact_value(contact, name) for name in variables_in(message)}
    for name, value in values.items():
        if not value:
            field = f"contacts.{number}"
            raise BroadcastRefused(f"This contact has no value for {{{{{name}}}}}.", field=field)

    def write(text: str) -> str:
        return VARIABLE.sub(lambda found: values[found[1]], text)

    message = filled(message, write)
    return Content(template=message) if written.template else Content(text=_text(message))


def _text(message: Any) -> str:
    return str(message)
