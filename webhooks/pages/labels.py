"""What the console says about attempts and their errors."""

from django.utils.translation import gettext_lazy as _

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
    "worker_lost": _("Sending was begun many times and never finished."),
}
