"""The support page's panel of an agency's late messages, without their content."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.urls import reverse
from django.utils import timezone

from agency.models import Agency
from agency.pages.search import SupportPanel, SupportRow
from workspaces.conversations.models import QueuedMessage

# A message that is due for so long is not just waiting for its turn.
LATE: Final = timedelta(minutes=5)


def late_messages(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the messages that wait too long for another attempt or a provider's status, earliest due time first."""
    late = QueuedMessage.objects.filter(is_ready=False, due_at__lt=timezone.now() - LATE, agency_id=agency.pk)
    for queued in late.order_by("due_at")[:most]:
        state = "its outcome is unknown" if queued.is_unknown else "waits for another attempt"
        yield SupportRow(
            title=f"Message {queued.pk}",
            detail=f"{state} · due {queued.due_at:%Y-%m-%d %H:%M UTC} · {queued.tries} tries",
            url=reverse("admin:conversations_message_change", args=[queued.pk]),
            is_problem=True,
        )


PANELS: Final = (
    SupportPanel(
        name="late-messages",
        label="Messages that should have left",
        order=16,
        permission="conversations.view_message",
        rows=late_messages,
    ),
)
