"""The pages' labels for states of broadcasts and for the reasons and errors of recipients."""

from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from broadcasts.models import Broadcast, Recipient

Status, Reason = Broadcast.Status, Recipient.SkipReason

STATUSES: Final[dict[str, Any]] = {
    Status.DRAFT: _("Draft"),
    Status.SCHEDULED: _("Scheduled"),
    Status.SENDING: _("Sending"),
    Status.PAUSED: _("Paused"),
    Status.SENT: _("Sent"),
    Status.CANCELLED: _("Cancelled"),
}
# Colours of badges; other states have none.
COLOURS: Final = {Status.SENDING: "good", Status.SENT: "good", Status.PAUSED: "bad"}
RECIPIENTS: Final[dict[str, Any]] = {
    "pending": _("Waiting"),
    "sent": _("Sent"),
    "delivered": _("Delivered"),
    "read": _("Read"),
    "failed": _("Failed"),
    "skipped": _("Skipped"),
}
# The statuses in the order in which a bar shows them.
BAR: Final = ("read", "delivered", "sent", "pending", "skipped", "failed")
REASONS: Final[dict[str, Any]] = {
    Reason.OPTED_OUT: _("They want no messages, or no marketing."),
    Reason.NO_ADDRESS: _("They have no address on this channel."),
    Reason.OUTSIDE_WINDOW: _("They last wrote more than 24 hours ago: only a template may be sent."),
    Reason.LOCAL_TIME_PASSED: _("The time had passed where they live."),
    Reason.TOO_LATE: _("It could not be sent for three days."),
    Reason.DUPLICATE_ADDRESS: _("Another contact has the same address, and gets it once."),
    Reason.VARIABLE_MISSING: _("A variable of the message has no value for them."),
    Reason.CANCELLED: _("The broadcast was cancelled before it was their turn."),
}
OUTCOME_UNKNOWN: Final = "send_outcome_unknown"
UNKNOWN_WORDS: Final = _("Nobody knows whether it arrived: it was not sent again, so that nobody gets it twice.")
VARIABLES: Final[dict[str, Any]] = {
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
ENGAGEMENTS: Final[dict[str, Any]] = {
    "sent": _("were sent to"),
    "delivered": _("got it"),
    "read": _("read it"),
    "not_read": _("got it and have not read it"),
    "clicked": _("followed a link"),
    "not_clicked": _("followed no link"),
    "failed": _("could not be reached"),
}


def error_words(recipient: Recipient) -> Any:
    """Say why a recipient did not get a broadcast; empty for all others."""
    if recipient.skip_reason:
        return REASONS.get(recipient.skip_reason, recipient.skip_reason)
    if recipient.error_code == OUTCOME_UNKNOWN:
        return UNKNOWN_WORDS
    return recipient.error_message or recipient.error_details or recipient.error_code or ""
