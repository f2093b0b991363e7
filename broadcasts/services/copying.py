"""Creates a broadcast as a copy of another."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction

from agency.actors import Actor
from broadcasts.models import Broadcast
from broadcasts.models.broadcasts import LONGEST_NAME
from broadcasts.services.editing import create_broadcast
from workspaces.contacts.models import Contact

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
        type=broadcast.type,
        audience=None if is_retarget else _audience(broadcast),
        source_broadcast=broadcast.source_broadcast,
        retarget_engagement=broadcast.retarget_engagement,
        requires_approval=broadcast.requires_approval,
    )


def _audience(broadcast: Broadcast) -> dict[str, Any]:
    if broadcast.chosen_contacts is None:
        return dict(broadcast.audience or {})
    chosen = Contact.objects.of(broadcast.workspace).filter(pk__in=broadcast.chosen_contacts).order_by("pk")
    return {"type": "contacts", "contacts": list(chosen.values_list("uuid", flat=True))}
