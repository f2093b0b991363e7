"""The one judgement of a receiver's URL, for creation, editing, tests and every attempt."""

from django.conf import settings

from config.errors import Invalid
from webhooks.transport.guard import TargetRefused, Vetted, check_url
from webhooks.transport.resolver import resolve


class UrlRefused(Invalid):
    field = "url"
    message = "The URL's host must be publicly reachable."


def judge_url(url: str) -> Vetted:
    """Parse and resolve a URL and judge every address of its host. Raises `UrlRefused`.

    Looks names up, so it must not be called inside a transaction.
    """
    try:
        return check_url(url, allowed=settings.WEBHOOK_ALLOWED_NETWORKS, resolve=resolve)
    except TargetRefused as refusal:
        raise UrlRefused(str(refusal)) from refusal
