"""Labels of endpoints' states and of attempts' errors."""

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from webhooks.services.conditions import MOST_COUNTED, Condition, State

ERROR_LABELS = {
    "dns": _("The host name led to no address."),
    "blocked_address": _("The host is not publicly reachable: nothing was sent."),
    "refused": _("The connection was refused."),
    "connect_timeout": _("No connection within 5 seconds."),
    "tls": _("The secure connection failed: check the certificate."),
    "timeout": _("No complete answer within 10 seconds."),
    "closed": _("The receiver hung up before its answer was complete."),
    "invalid_answer": _("The answer was not HTTP, or said its length in two ways."),
    "too_large": _("The answer's head was too large."),
    "failed": _("The request could not be made."),
    "http_3xx": _("The receiver redirected; redirects are not followed."),
    "http_4xx": _("The receiver refused the request."),
    "http_5xx": _("The receiver failed."),
    "endpoint_disabled": _("The webhook was disabled before it was sent."),
    "endpoint_removed": _("The webhook was removed before it was sent."),
    "agency_suspended": _("The agency was suspended for longer than it could wait: 24 hours."),
    "worker_lost": _("Sending was begun many times and never finished."),
}


def undelivered_label(condition: Condition) -> str:
    """Return a short text on how many events never arrived."""
    shown = f"{MOST_COUNTED}+" if condition.undelivered_is_more else str(condition.undelivered)
    return ngettext("%(shown)s not delivered", "%(shown)s not delivered", condition.undelivered) % {"shown": shown}


def undelivered_notice(condition: Condition) -> str:
    """Return a sentence on how many events never arrived."""
    shown = f"{MOST_COUNTED}+" if condition.undelivered_is_more else str(condition.undelivered)
    said = ngettext("%(shown)s event did not arrive.", "%(shown)s events did not arrive.", condition.undelivered)
    return said % {"shown": shown}


def state_label(condition: Condition) -> str:
    """Return a state's label, with the number of events that never arrived."""
    label = str(condition.state.label)
    return f"{label} ({undelivered_label(condition)})" if condition.undelivered else label


def concern_words(condition: Condition, url: str) -> str:
    """Return a sentence on what is wrong with an endpoint."""
    if condition.state == State.RECOVERED:
        said = gettext("The webhook to %(url)s works again: %(lost)s.")
        return said % {"url": url, "lost": undelivered_label(condition)}
    if condition.state == State.RETRYING:
        return gettext("Attempts to reach the webhook to %(url)s fail, and are repeated.") % {"url": url}
    return gettext("The webhook to %(url)s fails.") % {"url": url}
