"""Segments and files that broadcasts still need, so that nobody deletes them."""

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from broadcasts.models import Broadcast
from workspaces.contacts.models import Segment
from workspaces.contacts.services import SegmentUse
from workspaces.media.models import Media, MediaQuerySet
from workspaces.media.services import MediaUse

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
