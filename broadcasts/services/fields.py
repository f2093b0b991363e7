"""The fields of a broadcast: its audience, its time, its variables, and how the activity log shows them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField, ValueFormat
from broadcasts import events
from broadcasts.content import VARIABLE, map_texts
from broadcasts.models import Broadcast
from broadcasts.models.broadcasts import MOST_CONTACTS
from broadcasts.services.errors import BroadcastNotFound, BroadcastRefused
from config.api.requests import parse_uuid
from config.wall_clock import anchor_of
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.services import ContactNotFound, SegmentNotFound, SegmentUse
from workspaces.media.models import Media, MediaQuerySet
from workspaces.media.services import MediaUse
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import settings_in_texts

ALL: Final = "all"
SEGMENT, CONTACTS = "segment", "contacts"


@dataclass(frozen=True, slots=True)
class ChosenAudience:
    """An audience in its stored form: `audience` without its contacts, and the contacts' row ids in `contacts`."""

    audience: dict[str, object] | None = None
    segment: Segment | None = None
    contacts: list[int] | None = None


def checked_audience(audience: Mapping[str, object] | None, workspace: Workspace) -> ChosenAudience:
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


def _segment(named: object, workspace: Workspace) -> Segment:
    uuid = parse_uuid(named) if isinstance(named, str) else None
    if uuid is None:
        raise BroadcastRefused("The audience.segment field must be all or a segment's id.", field="audience.segment")
    found = Segment.objects.of(workspace).filter(uuid=uuid).first()
    if found is None:
        raise SegmentNotFound
    return found


def _contacts(named: object, workspace: Workspace) -> list[int]:
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


WALL_CLOCK: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", re.ASCII)
FORM: Final = "%Y-%m-%d %H:%M:%S"
# Years so far from the ends of the calendar that no zone's offset passes them.
YEARS: Final = range(2000, 3000)
IN_TIME_ZONES: Final = Broadcast.TimezoneMode.CONTACT


def checked_timing(mode: str, at: datetime | str | None, wall: str | None) -> tuple[datetime | None, str | None]:
    """Return `scheduled_at` and `scheduled_local_at` in their stored form.

    The mode uses only one of the arguments and ignores the other. `at` is a time, or an ISO 8601 text with an offset.
    Raises `BroadcastRefused`.
    """
    if mode == IN_TIME_ZONES:
        checked = _wall_clock(wall)
        return anchor_of(checked), checked.strftime(FORM)
    return (None if at is None else _moment(at)), None


def _wall_clock(wall: str | None) -> datetime:
    if wall is None:
        raise BroadcastRefused(
            "The scheduled local at field is required with the contacts' own time.", field="scheduled_local_at"
        )
    try:
        # The wall clock has no zone, because it is a different moment in each zone.
        found = datetime.strptime(wall, FORM) if WALL_CLOCK.fullmatch(wall) else None  # noqa: DTZ007
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise BroadcastRefused(
            "The scheduled local at field must be a wall clock such as 2026-12-24 09:00:00, without an offset.",
            field="scheduled_local_at",
        )
    return _within_calendar(found, "scheduled_local_at")


def _moment(at: datetime | str) -> datetime:
    try:
        found = parse_datetime(at) if isinstance(at, str) else at
    except ValueError:
        found = None
    if not isinstance(found, datetime) or found.tzinfo is None:
        raise BroadcastRefused("The scheduled at field must be an ISO 8601 time with an offset.", field="scheduled_at")
    return _within_calendar(found, "scheduled_at").astimezone(UTC)


def _within_calendar(moment: datetime, field: str) -> datetime:
    if moment.year not in YEARS:
        words = field.replace("_", " ")
        raise BroadcastRefused(f"The {words} field must be in the years 2000 to 2999.", field=field)
    return moment


# The last zone reaches a wall clock this long after the first zone.
ALL_ZONES: Final = timedelta(hours=26)


CONTACT: Final = ("name", "first_name", "last_name", "email", "phone", "country")
BRACES: Final = re.compile(r"\{\{([^{}]*)\}\}")


def check_variables(field: str, content: object, workspace: Workspace) -> None:
    """Refuse texts with an unknown variable, or with a workspace variable that has no value.

    Raises `BroadcastRefused` on the field.
    """
    settings: Mapping[str, str] | None = None
    for text in _texts(content):
        for found in BRACES.finditer(text):
            root, name = _known(field, found[0])
            if root == "workspace":
                # A request authenticated by a key loads only a few of its workspace's columns.
                own = Workspace.objects.select_related("booking_page")
                settings = settings or settings_in_texts(own.get(pk=workspace.pk))
                _check_setting(field, name, settings)


def contact_value(contact: Contact, name: str) -> str:
    """Return the value of a contact's variable, such as `contact.first_name` or `fields.plan`; empty if it has none."""
    root, _, key = name.partition(".")
    if root == "fields":
        return str(contact.attributes.get(key) or "")
    if key in ("first_name", "last_name"):
        first, _, last = contact.name.strip().partition(" ")
        return first if key == "first_name" else last.strip()
    return str(getattr(contact, key) or "")


def with_settings(content: object, workspace: Workspace) -> Any:
    """Fill the workspace's variables in all texts; the contacts' variables stay."""
    settings = settings_in_texts(workspace)

    def write(text: str) -> str:
        return VARIABLE.sub(lambda found: _setting(found, settings), text) if "{{" in text else text

    return map_texts(content, write)


def _setting(found: re.Match[str], settings: Mapping[str, str]) -> str:
    root, _, name = found[1].partition(".")
    return settings.get(name, "") if root == "workspace" else found[0]


def _known(field: str, braces: str) -> tuple[str, str]:
    found = VARIABLE.fullmatch(braces)
    root, _, name = found[1].partition(".") if found else ("", "", "")
    if root == "fields" or (root == "contact" and name in CONTACT) or root == "workspace":
        return root, name
    known = ", ".join(f"contact.{one}" for one in CONTACT)
    raise BroadcastRefused(f"{braces} is no variable. There are {known}, fields.… and workspace.….", field=field)


def _check_setting(field: str, name: str, settings: Mapping[str, str]) -> None:
    if name not in settings:
        known = ", ".join(f"workspace.{one}" for one in settings)
        raise BroadcastRefused(f"{{{{workspace.{name}}}}} is no variable. There are {known}.", field=field)
    if not settings[name]:
        words = name.replace("_", " ")
        raise BroadcastRefused(
            f"The workspace's {words} is not set, and {{{{workspace.{name}}}}} needs it.", field=field
        )


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping | list | tuple):
        for below in content.values() if isinstance(content, Mapping) else content:
            yield from _texts(below)


FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    events.UPDATED: (
        RecordedField("name", _("Name")),
        RecordedField("channel", _("Channel"), hidden=True),
        RecordedField("type", _("Kind"), hidden=True),
        RecordedField("audience", _("Audience"), hidden=True),
        RecordedField("message", _("Message"), hidden=True),
        RecordedField("fallbacks", _("Fallbacks"), hidden=True),
        RecordedField("timezone_mode", _("Time zone"), hidden=True),
        RecordedField("scheduled_at", _("When"), ValueFormat.MOMENT),
        RecordedField("scheduled_local_at", _("When"), hidden=True),
        RecordedField("requires_approval", _("Ask for approval first"), ValueFormat.SWITCH),
        RecordedField("source_broadcast_id", _("Earlier broadcast"), hidden=True),
        RecordedField("retarget_engagement", _("Result"), hidden=True),
    )
}


Status = Broadcast.Status
WRITTEN = Cast("message", TextField())
# In these statuses recipients may still get the file. A draft is checked again when it is scheduled.
TO_BE_SENT = (Status.SCHEDULED, Status.SENDING, Status.PAUSED)


def broadcast_choosing(segment: Segment) -> str | None:
    """Name a broadcast whose audience will still be read from a segment."""
    waiting = Q(status__in=(Status.DRAFT, Status.SCHEDULED))
    preparing = Q(status__in=(Status.SENDING, Status.PAUSED), is_prepared=False)
    return _named(Broadcast.objects.filter(waiting | preparing, segment=segment))


def broadcast_needing(media: Media) -> str | None:
    """Name a broadcast that will still be sent with a file."""
    own = Broadcast.objects.filter(status__in=TO_BE_SENT, workspace=media.workspace_id).alias(written=WRITTEN)
    return _named(own.filter(written__contains=media.token))


def media_in_broadcasts(media: MediaQuerySet) -> MediaQuerySet:
    """Keep the files that a broadcast of their workspace will still be sent with."""
    of_workspace = Broadcast.objects.filter(status__in=TO_BE_SENT, workspace=OuterRef("workspace"))
    return media.filter(Exists(of_workspace.alias(written=WRITTEN).filter(written__contains=OuterRef("token"))))


def _named(rows: "QuerySet[Broadcast]") -> str | None:
    name = rows.order_by("pk").values_list("name", flat=True).first()
    return None if name is None else f"the broadcast \u201c{name}\u201d"


SEGMENT_USE = SegmentUse("broadcasts", broadcast_choosing)
MEDIA_USE = MediaUse("broadcasts", broadcast_needing, media_in_broadcasts)
