"""Labels for states of broadcasts and for reasons and errors of recipients, and charts of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agency.pages.registry import StrOrPromise
from broadcasts.models import Broadcast, Recipient
from config.formats import format_percent

Status, Reason = Broadcast.Status, Recipient.SkipReason

STATUS_LABELS: Final[dict[str, StrOrPromise]] = {
    Status.DRAFT: _("Draft"),
    Status.SCHEDULED: _("Scheduled"),
    Status.SENDING: _("Sending"),
    Status.PAUSED: _("Paused"),
    Status.SENT: _("Sent"),
    Status.CANCELLED: _("Cancelled"),
}
# Colours of badges; other states have none.
COLOURS: Final = {Status.SENDING: "good", Status.SENT: "good", Status.PAUSED: "bad"}
RECIPIENT_STATUS_LABELS: Final[dict[str, StrOrPromise]] = {
    "pending": _("Waiting"),
    "sent": _("Sent"),
    "delivered": _("Delivered"),
    "read": _("Read"),
    "failed": _("Failed"),
    "skipped": _("Skipped"),
}
# The statuses where recipients are counted. Each counts once there, by how far the message has come.
COUNTED_STATUS_LABELS: Final[dict[str, StrOrPromise]] = {
    **RECIPIENT_STATUS_LABELS,
    "sent": _("Sent, not yet delivered"),
    "delivered": _("Delivered, not read"),
}
# The statuses in the order in which a bar shows them.
BAR_ORDER: Final = ("read", "delivered", "sent", "pending", "skipped", "failed")
SKIP_REASON_LABELS: Final[dict[str, StrOrPromise]] = {
    Reason.OPTED_OUT: _("They want no messages, or no marketing."),
    Reason.NO_ADDRESS: _("They have no address on this channel."),
    Reason.OUTSIDE_WINDOW: _("They last wrote more than 24 hours ago, so only a template may be sent."),
    Reason.LOCAL_TIME_PASSED: _("The time had passed where they live."),
    Reason.TOO_LATE: _("It could not be sent for three days."),
    Reason.DUPLICATE_ADDRESS: _("Another contact has the same address, and gets it once."),
    Reason.VARIABLE_MISSING: _("A value that the message needs is missing, such as the first name."),
    Reason.CANCELLED: _("The broadcast was cancelled before it was their turn."),
}
OUTCOME_UNKNOWN: Final = "send_outcome_unknown"
OUTCOME_UNKNOWN_LABEL: Final = _(
    "It is not known whether the message arrived. It was not sent again, so that nobody gets it twice."
)
# The provider's categories that we know, as `category_of` writes them.
CATEGORY_LABELS: Final[dict[str, StrOrPromise]] = {
    "marketing": pgettext_lazy("category of messages", "Marketing"),
    "marketing-lite": pgettext_lazy("category of messages", "Marketing, optimised"),
    "utility": pgettext_lazy("category of messages", "Utility"),
    "authentication": pgettext_lazy("category of messages", "Authentication"),
    "authentication-international": pgettext_lazy("category of messages", "International authentication"),
    "service": pgettext_lazy("category of messages", "Service"),
    "referral-conversion": pgettext_lazy("category of messages", "Reply to an ad"),
}
VARIABLE_LABELS: Final[dict[str, StrOrPromise]] = {
    "contact.first_name": _("First name"),
    "contact.last_name": _("Last name"),
    "contact.name": _("Name"),
    "contact.email": _("E-mail"),
    "contact.phone": _("Phone number"),
    "contact.country": _("Country"),
    "workspace.name": _("Business's name"),
    "workspace.phone": _("Business's phone"),
    "workspace.website": _("Business's website"),
    "workspace.address": _("Business's address"),
}


def variable_label(name: str) -> str:
    """Name a variable: `First name` for `contact.first_name`, and a field of the workspace's own by its key."""
    return str(VARIABLE_LABELS.get(name) or name.partition(".")[2])


ENGAGEMENT_LABELS: Final[dict[str, StrOrPromise]] = {
    "sent": _("Sent"),
    "delivered": _("Delivered"),
    "read": _("Read"),
    "not_read": _("Delivered, not read"),
    "clicked": _("Clicked"),
    "not_clicked": _("Did not click"),
    "failed": _("Failed"),
}


def error_text(recipient: Recipient) -> StrOrPromise:
    """Say why a recipient did not get a broadcast; empty for all others."""
    if recipient.skip_reason:
        return SKIP_REASON_LABELS.get(recipient.skip_reason, recipient.skip_reason)
    if recipient.error_code == OUTCOME_UNKNOWN:
        return OUTCOME_UNKNOWN_LABEL
    return recipient.error_message or recipient.error_details or recipient.error_code or ""


# A table beside each chart repeats the numbers.

WIDTH: Final = 1_000
HEIGHT: Final = 160
MOST_BARS: Final = 120
GAP: Final = 2


LEAST_SHARE: Final = 0.1  # in percent, as shares are written with one decimal


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A segment of a bar, which starts at `x`. The whole bar is 1,000 wide."""

    status: str
    label: StrOrPromise
    number: int
    x: float
    width: float

    @property
    def percent(self) -> str:
        share = self.width / WIDTH * 100
        return f"<{format_percent(LEAST_SHARE, 1)}" if 0 < share < LEAST_SHARE else format_percent(share, 1)


@dataclass(frozen=True, slots=True)
class Bar:
    """A wave in a chart. `height` grows with the root of its number, so that small waves stay visible."""

    at: datetime
    number: int
    x: float
    y: float
    width: float
    height: float


def bar_segments(counts: Mapping[str, int]) -> list[BarSegment]:
    """Return the share of recipients in each status, in the bar's order."""
    total = sum(max(0, counts.get(status, 0)) for status in BAR_ORDER)
    shares, x = [], 0.0
    for status in BAR_ORDER:
        number = max(0, counts.get(status, 0))
        width = number / total * WIDTH if total else 0.0
        shares.append(BarSegment(status, COUNTED_STATUS_LABELS[status], number, round(x, 2), round(width, 2)))
        x += width
    return shares


def bars_of(waves: Sequence[tuple[datetime, int]]) -> list[Bar]:
    """Return bars for waves, earliest first; at most `MOST_BARS`."""
    some = sorted(waves)[:MOST_BARS]
    if not some:
        return []
    each = WIDTH / len(some)
    highest = sqrt(max(number for _, number in some)) or 1
    bars = []
    for position, (at, number) in enumerate(some):
        height = round(max(3.0, sqrt(number) / highest * (HEIGHT - 10)), 1)
        width = round(min(each - GAP, 60.0), 2)
        x = round(position * each + (each - width) / 2, 2)
        bars.append(Bar(at, number, x, round(HEIGHT - height, 1), width, height))
    return bars
