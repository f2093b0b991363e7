"""Builds a broadcast from its author's fields and checks it as a whole; nothing is saved."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from broadcasts.models import Broadcast
from broadcasts.models.broadcasts import LONGEST_NAME
from broadcasts.services.editing.fields.audiences import ChosenAudience, checked_audience, checked_source
from broadcasts.services.editing.fields.messages import checked_message
from broadcasts.services.editing.fields.timing import checked_timing
from broadcasts.services.errors import BroadcastRefused
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
    """

    name: str
    channel: Channel
    type: str
    audience: Mapping[str, Any] | None
    message: Mapping[str, Any]
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


def one_of(field: str, value: str | None, choices: Any) -> str:
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
