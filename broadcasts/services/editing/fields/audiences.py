"""A broadcast's audience: all contacts, a segment, contacts by id, or recipients of an earlier broadcast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from broadcasts.models import Broadcast
from broadcasts.models.broadcasts import MOST_CONTACTS
from broadcasts.services.errors import BroadcastNotFound, BroadcastRefused
from config.api.requests.ids import parse_uuid
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.services import ContactNotFound, SegmentNotFound
from workspaces.subaccounts.models import Workspace

ALL: Final = "all"
SEGMENT, CONTACTS = "segment", "contacts"


@dataclass(frozen=True, slots=True)
class ChosenAudience:
    """An audience in its stored form: `audience` without its contacts, and the contacts' row ids in `contacts`."""

    audience: dict[str, Any] | None = None
    segment: Segment | None = None
    contacts: list[int] | None = None


def checked_audience(audience: Mapping[str, Any] | None, workspace: Workspace) -> ChosenAudience:
    """Look up what an audience names. Raises `BroadcastRefused`, `SegmentNotFound` and `ContactNotFound`."""
    if audience is None:
        raise BroadcastRefused("The audience field is required.", field="audience")
    kind = audience.get("type")
    if kind == CONTACTS:
        chosen = _contacts(audience.get("contacts"), workspace)
        return ChosenAudience({"type": CONTACTS}, contacts=chosen)
    if kind != SEGMENT:
        raise BroadcastRefused("The audience.type field must be one of: segment, contacts.", field="audience.type")
    named = audience.get("segment")
    if named is None or named == "":
        raise BroadcastRefused("The audience.segment field is required.", field="audience.segment")
    if named == ALL:
        return ChosenAudience({"type": SEGMENT, "segment": ALL})
    segment = _segment(named, workspace)
    return ChosenAudience({"type": SEGMENT, "segment": str(segment.uuid)}, segment=segment)


def checked_source(source: Broadcast | None, engagement: str | None, workspace: Workspace) -> None:
    """Refuse an earlier broadcast of another workspace, or one whose sending has not begun."""
    if source is None:
        raise BroadcastRefused("The source broadcast id field is required.", field="source_broadcast_id")
    if engagement not in Broadcast.Engagement.values:
        known = ", ".join(Broadcast.Engagement.values)
        message = f"The retarget engagement field must be one of: {known}."
        message = message if engagement else "The retarget engagement field is required."
        raise BroadcastRefused(message, field="retarget_engagement")
    if source.workspace_id != workspace.pk:
        raise BroadcastNotFound
    if source.started_at is None:
        raise BroadcastRefused("The source broadcast has not begun to be sent.", field="source_broadcast_id")


def hold_segment(segment: Segment | None) -> None:
    """Lock a segment against deletion until the caller's transaction refers to it. Raises `SegmentNotFound`."""
    if segment is not None and not Segment.objects.select_for_update(no_key=True).filter(pk=segment.pk).exists():
        raise SegmentNotFound


def _segment(named: Any, workspace: Workspace) -> Segment:
    uuid = parse_uuid(named) if isinstance(named, str) else None
    if uuid is None:
        raise BroadcastRefused("The audience.segment field must be all or a segment's id.", field="audience.segment")
    found = Segment.objects.of(workspace).filter(uuid=uuid).first()
    if found is None:
        raise SegmentNotFound
    return found


def _contacts(named: Any, workspace: Workspace) -> list[int]:
    if not named or not isinstance(named, Sequence):
        raise BroadcastRefused("The audience.contacts field is required.", field="audience.contacts")
    if len(named) > MOST_CONTACTS:
        raise BroadcastRefused(
            f"The audience.contacts field may have at most {MOST_CONTACTS} entries.", field="audience.contacts"
        )
    uuids: set[UUID] = set()
    for number, one in enumerate(named):
        uuid = parse_uuid(one) if isinstance(one, str) else one
        if not isinstance(uuid, UUID):
            field = f"audience.contacts.{number}"
            raise BroadcastRefused("Each entry of the audience.contacts field must be a uuid.", field=field)
        uuids.add(uuid)
    found = Contact.objects.of(workspace).filter(uuid__in=uuids).order_by("pk").values_list("pk", flat=True)
    chosen = list(found)
    if len(chosen) < len(uuids):
        raise ContactNotFound
    return chosen
