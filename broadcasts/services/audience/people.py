"""A broadcast's contacts, and the size of a chunk among them."""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from broadcasts.models import Broadcast, Recipient
from workspaces.contacts.models import Contact
from workspaces.contacts.services.conditions import condition_of

Engagement = Broadcast.Engagement
Status = Recipient.Status
REACHED: Final = (Status.SENT, Status.DELIVERED, Status.READ)
ENGAGED: Final[Mapping[str, Q]] = {
    Engagement.SENT: Q(status__in=REACHED),
    Engagement.DELIVERED: Q(status__in=(Status.DELIVERED, Status.READ)),
    Engagement.READ: Q(status=Status.READ),
    Engagement.NOT_READ: Q(status__in=(Status.SENT, Status.DELIVERED)),
    Engagement.CLICKED: Q(clicked_at__isnull=False),
    Engagement.NOT_CLICKED: Q(status__in=REACHED, clicked_at=None),
    Engagement.FAILED: Q(status=Status.FAILED),
}


def audience_filter(broadcast: Broadcast) -> dict[str, Any] | None:
    """Return the filter that contacts must meet; empty for all contacts. None if the segment was removed."""
    if broadcast.type == Broadcast.Type.RETARGET or broadcast.chosen_contacts is not None:
        return {}
    if (broadcast.audience or {}).get("segment") == "all":
        return {}
    return broadcast.segment.filter if broadcast.segment is not None else None


def last_contact_of(broadcast: Broadcast) -> int:
    """Return the workspace's newest contact. Contacts that are added later are not in the audience."""
    own = Contact.objects.of(broadcast.workspace).order_by("-workspace_id", "-id")
    return own.values_list("pk", flat=True).first() or 0


def contacts_between(broadcast: Broadcast, filter: Mapping[str, Any], *, after: int, up_to: int) -> "QuerySet[Contact]":
    """Return the broadcast's contacts with ids above `after`, up to `up_to`."""
    people = Contact.objects.filter(workspace_id=broadcast.workspace_id, pk__gt=after, pk__lte=up_to)
    if broadcast.type == Broadcast.Type.RETARGET:
        return people.filter(Exists(_engaged(broadcast, after, up_to).filter(contact_id=OuterRef("pk"))))
    if broadcast.chosen_contacts is not None:
        return people.filter(pk__in=[pk for pk in broadcast.chosen_contacts if after < pk <= up_to])
    return people.filter(condition_of(filter))


def end_of_chunk(broadcast: Broadcast, *, after: int, size: int) -> int:
    """Return the id up to which a chunk goes: `size` contacts further, or the last contact.

    It counts the contacts that the walk passes, not those that a segment finds: the walk is what takes the time.
    """
    last = broadcast.last_contact or 0
    walked: QuerySet[Any, int]
    if broadcast.chosen_contacts is not None:
        ahead = sorted(pk for pk in broadcast.chosen_contacts if after < pk <= last)
        return ahead[size - 1] if len(ahead) > size else last
    if broadcast.type == Broadcast.Type.RETARGET:
        source = _recipients_of_source(broadcast, after, last)
        walked = source.order_by("broadcast_id", "contact_id").values_list("contact_id", flat=True)
    else:
        own = Contact.objects.filter(workspace_id=broadcast.workspace_id, pk__gt=after, pk__lte=last)
        walked = own.order_by("workspace_id", "pk").values_list("pk", flat=True)
    ends = list(walked[size - 1 : size])
    return ends[0] if ends else last


def _engaged(broadcast: Broadcast, after: int, up_to: int) -> "QuerySet[Recipient]":
    return _recipients_of_source(broadcast, after, up_to).filter(ENGAGED[str(broadcast.retarget_engagement)])


def _recipients_of_source(broadcast: Broadcast, after: int, up_to: int) -> "QuerySet[Recipient]":
    source = broadcast.source_broadcast_id or 0
    return Recipient.objects.filter(broadcast_id=source, contact_id__gt=after, contact_id__lte=up_to)
