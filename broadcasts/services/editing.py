"""Builds, creates, copies, changes, deletes and tests broadcasts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypedDict, Unpack
from uuid import UUID

from django.db import transaction
from django.db.models import TextChoices

from agency.actors import Actor
from broadcasts import events
from broadcasts.content import VARIABLE, map_texts, variables_in
from broadcasts.models import Broadcast
from broadcasts.models.broadcasts import LONGEST_NAME
from broadcasts.services.errors import BroadcastRefused, MoveNotAllowed
from broadcasts.services.fields import (
    ChosenAudience,
    checked_audience,
    checked_source,
    checked_timing,
    contact_value,
    hold_segment,
    with_settings,
)
from broadcasts.services.message_fields import WrittenMessage, checked_fallbacks, checked_message, write_message
from broadcasts.services.moving import lock_broadcast, schedule_broadcast
from broadcasts.services.recipient_events import (
    record_broadcast_activity,
    record_broadcast_change,
    record_broadcast_event,
)
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.conversations.models import Message
from workspaces.conversations.services import Content, send_message_to_contact
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace
from workspaces.subaccounts.services import ChannelNotFound

PLATFORMS: Final = ("whatsapp", "facebook", "instagram")
RETARGET: Final = Broadcast.Type.RETARGET
# The fields that choose the audience, by type.
AUDIENCE_FIELDS: Final = {
    Broadcast.Type.CONTACT.value: ("audience",),
    RETARGET.value: ("source_broadcast", "retarget_engagement"),
}


class BroadcastFields(TypedDict, total=False):
    """The author's fields under the API's names. `name`, `channel` and `message` are required.

    `audience` is `{type, segment, contacts}` with ids as texts. `scheduled_at` is a time, or a text with an offset.
    The API has no field for `fallbacks`: the texts for contacts without a value, by variable.
    """

    name: str
    channel: Channel
    type: str
    audience: Mapping[str, object] | None
    message: Mapping[str, object]
    fallbacks: Mapping[str, str]
    timezone_mode: str
    scheduled_at: datetime | str | None
    scheduled_local_at: str | None
    requires_approval: bool
    source_broadcast: Broadcast | None
    retarget_engagement: str | None


def build_broadcast(*, workspace: Workspace, **fields: Unpack[BroadcastFields]) -> Broadcast:
    """Return an unsaved draft.

    Raises `BroadcastRefused` on the field concerned, and `ChannelNotFound`, `SegmentNotFound`, `ContactNotFound` or
    `BroadcastNotFound` for a thing that is not the workspace's.
    """
    broadcast = Broadcast(workspace=workspace)
    apply_fields(broadcast, **fields)
    return broadcast


def apply_fields(broadcast: Broadcast, *, keep_audience: bool = False, **fields: Unpack[BroadcastFields]) -> None:
    """Write all of an author's fields into a broadcast, with the checks of `build_broadcast`; nothing is saved.

    `keep_audience` leaves the audience as it is.
    """
    workspace = broadcast.workspace
    broadcast.name = _name(fields.get("name"))
    broadcast.channel = _channel(fields.get("channel"), workspace)
    broadcast.type = one_of("type", fields.get("type"), Broadcast.Type)
    broadcast.timezone_mode = one_of("timezone_mode", fields.get("timezone_mode"), Broadcast.TimezoneMode)
    broadcast.scheduled_at, broadcast.scheduled_local_at = checked_timing(
        broadcast.timezone_mode, fields.get("scheduled_at"), fields.get("scheduled_local_at")
    )
    broadcast.requires_approval = bool(fields.get("requires_approval"))
    if not keep_audience:
        _choose_audience(broadcast, fields)
    message = fields.get("message")
    if not message:
        raise BroadcastRefused("The message field is required.", field="message")
    broadcast.message = checked_message(message, broadcast.channel, workspace)
    broadcast.fallbacks = checked_fallbacks(fields.get("fallbacks") or {}, broadcast.message)


def _name(name: str | None) -> str:
    if not name:
        raise BroadcastRefused("The name field is required.", field="name")
    if len(name) > LONGEST_NAME:
        raise BroadcastRefused(f"The name field may have at most {LONGEST_NAME} characters.", field="name")
    return name


def _channel(channel: Channel | None, workspace: Workspace) -> Channel:
    if channel is None:
        raise BroadcastRefused("The channel field is required.", field="channel")
    if channel.workspace_id != workspace.pk:
        raise ChannelNotFound
    if channel.platform not in PLATFORMS:
        kinds = ", ".join(CHANNEL_NAMES[kind] for kind in PLATFORMS)
        raise BroadcastRefused(f"Broadcasts can be sent on {kinds} only.", field="channel")
    if channel.status != Channel.Status.ACTIVE:
        raise BroadcastRefused("This channel is not connected.", field="channel")
    return channel


def one_of(field: str, value: str | None, choices: type[TextChoices]) -> str:
    """Check that a value is one of the choices; without a value, return the first choice."""
    if value is None:
        return str(choices.values[0])
    if value not in choices.values:
        words = field.replace("_", " ")
        raise BroadcastRefused(f"The {words} field must be one of: {', '.join(choices.values)}.", field=field)
    return value


def _choose_audience(broadcast: Broadcast, fields: BroadcastFields) -> None:
    if broadcast.type == RETARGET:
        source, engagement = fields.get("source_broadcast"), fields.get("retarget_engagement")
        checked_source(source, engagement, broadcast.workspace)
        broadcast.source_broadcast, broadcast.retarget_engagement = source, engagement
        chosen = ChosenAudience()
    else:
        chosen = checked_audience(fields.get("audience"), broadcast.workspace)
        broadcast.source_broadcast, broadcast.retarget_engagement = None, None
    broadcast.audience, broadcast.segment = chosen.audience, chosen.segment
    broadcast.chosen_contacts = chosen.contacts


# Broadcasts in any other status stay as they are.

Status = Broadcast.Status
NOT_CHANGED = "Only a draft can be changed. Cancel this broadcast, and create another one."
NOT_DELETED = "Only a draft can be deleted. This broadcast can be cancelled."
ENDED = "Only a draft can be changed or deleted, and this broadcast has ended."


@transaction.atomic
def change_broadcast(
    *, broadcast: Broadcast, now: datetime, by: Actor, **changes: Unpack[BroadcastFields]
) -> Broadcast:
    """Change a draft. Fields that are not named stay; message and audience are replaced as a whole.

    The draft must be approved again. Raises `MoveNotAllowed` and the errors of `build_broadcast`.
    """
    draft = _lock_draft(broadcast, NOT_CHANGED)
    before, fallbacks = _event_values(draft), draft.fallbacks
    fields = _fields_of(draft) | changes
    apply_fields(draft, keep_audience=not _touches_audience(draft, changes), **fields)
    hold_segment(draft.segment)
    told = differences(before, _event_values(draft))
    changed = told | differences({"fallbacks": fallbacks}, {"fallbacks": draft.fallbacks})
    if changed:
        draft.approved_at, draft.approved_by, draft.updated_at = None, "", now
        draft.save()
        record_broadcast_activity(draft, events.UPDATED, by=by, changes=changed)
    if told:  # the API does not show fallbacks, so there is no event of them
        record_broadcast_event(draft, events.UPDATED, now=now, changes=told)
    return draft


@transaction.atomic
def delete_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor) -> None:
    """Delete a draft. Raises `MoveNotAllowed`."""
    draft = _lock_draft(broadcast, NOT_DELETED)
    record_broadcast_change(draft, events.DELETED, by=by, now=now)
    draft.delete()


def _lock_draft(broadcast: Broadcast, otherwise: str) -> Broadcast:
    found = lock_broadcast(broadcast)
    if found.status != Status.DRAFT:
        raise MoveNotAllowed(ENDED if found.status in (Status.SENT, Status.CANCELLED) else otherwise)
    return found


def _fields_of(draft: Broadcast) -> BroadcastFields:
    """Return a draft's fields as the author wrote them, without the audience and without a computed anchor."""
    is_fixed = draft.timezone_mode == Broadcast.TimezoneMode.FIXED
    return {
        "name": draft.name,
        "channel": draft.channel,
        "type": draft.type,
        "message": draft.message,
        "fallbacks": draft.fallbacks,
        "timezone_mode": draft.timezone_mode,
        "scheduled_at": draft.scheduled_at if is_fixed else None,
        "scheduled_local_at": draft.scheduled_local_at,
        "requires_approval": draft.requires_approval,
        "source_broadcast": draft.source_broadcast,
        "retarget_engagement": draft.retarget_engagement,
    }


def _touches_audience(draft: Broadcast, changes: BroadcastFields) -> bool:
    if changes.get("type", draft.type) != draft.type:
        return True
    return any(name in changes for name in AUDIENCE_FIELDS[draft.type])


def _event_values(draft: Broadcast) -> dict[str, object]:
    """Return the values that the event's `changes` may name."""
    source = draft.source_broadcast
    return {
        "name": draft.name,
        "channel": str(draft.channel.uuid),
        "type": draft.type,
        "audience": draft.audience
        and {**draft.audience, "contacts_count": len(draft.chosen_contacts) if draft.chosen_contacts else None},
        "message": draft.message,
        "timezone_mode": draft.timezone_mode,
        "scheduled_at": draft.scheduled_at,
        "scheduled_local_at": draft.scheduled_local_at,
        "requires_approval": draft.requires_approval,
        "source_broadcast_id": source and str(source.uuid),
        "retarget_engagement": draft.retarget_engagement,
    }


@transaction.atomic
def create_broadcast(
    *, workspace: Workspace, now: datetime, by: Actor, schedule: bool = False, **fields: Unpack[BroadcastFields]
) -> Broadcast:
    """Create a draft; `schedule` also schedules it.

    Raises the errors of `build_broadcast` and `schedule_broadcast`.
    """
    broadcast = build_broadcast(workspace=workspace, **fields)
    broadcast.created_at = broadcast.updated_at = now
    broadcast.created_by_kind, broadcast.created_by_label = by.kind, by.label
    hold_segment(broadcast.segment)
    broadcast.save(force_insert=True)
    record_broadcast_change(broadcast, events.CREATED, by=by, now=now)
    return schedule_broadcast(broadcast=broadcast, by=by, now=now) if schedule else broadcast


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
    values = {name: contact_value(contact, name) or broadcast.fallbacks.get(name, "") for name in variables_in(message)}
    for name, value in values.items():
        if not value:
            field = f"contacts.{number}"
            raise BroadcastRefused(f"This contact has no value for {{{{{name}}}}}.", field=field)

    def write(text: str) -> str:
        return VARIABLE.sub(lambda found: values[found[1]], text)

    message = map_texts(message, write)
    return Content(template=message) if written.template else Content(text=_text(message))


def _text(message: object) -> str:
    return str(message)


COPY_OF: Final = "Copy of "


@transaction.atomic
def copy_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor) -> Broadcast:
    """Create a draft with another broadcast's message and audience, and no time.

    Chosen contacts that have been removed since are left out. Raises the errors of `create_broadcast`.
    """
    is_retarget = broadcast.type == Broadcast.Type.RETARGET
    return create_broadcast(
        workspace=broadcast.workspace,
        now=now,
        by=by,
        name=f"{COPY_OF}{broadcast.name}"[:LONGEST_NAME],
        channel=broadcast.channel,
        message=broadcast.message,
        fallbacks=broadcast.fallbacks,
        type=broadcast.type,
        audience=None if is_retarget else _audience(broadcast),
        source_broadcast=broadcast.source_broadcast,
        retarget_engagement=broadcast.retarget_engagement,
        requires_approval=broadcast.requires_approval,
    )


def _audience(broadcast: Broadcast) -> dict[str, object]:
    if broadcast.chosen_contacts is None:
        return dict(broadcast.audience or {})
    chosen = Contact.objects.of(broadcast.workspace).filter(pk__in=broadcast.chosen_contacts).order_by("pk")
    return {"type": "contacts", "contacts": list(chosen.values_list("uuid", flat=True))}
