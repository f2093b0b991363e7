"""Checks an endpoint's URL when it is created, edited or tested."""

from functools import lru_cache

from django.conf import settings

from config.errors import InvalidInput
from config.http.guard import URLRefused, VettedTarget, check_url
from config.http.resolver import LookupFailed, Resolver


class UrlRefused(InvalidInput):
    field = "url"
    message = "The URL's host must be publicly reachable."


@lru_cache(maxsize=1)
def resolver() -> Resolver:
    """Return the process's resolver. Its threads start with the first look-up, so after any fork."""
    return Resolver()


def check_endpoint_url(url: str) -> VettedTarget:
    """Parse and resolve a URL and check every address of its host. Raises `UrlRefused`.

    It makes DNS look-ups, so it must not be called inside a transaction.
    """
    try:
        return check_url(url, allowed=settings.WEBHOOK_ALLOWED_NETWORKS, resolve=resolver().resolve)
    except URLRefused as refusal:
        raise UrlRefused(str(refusal)) from refusal
    except LookupFailed as failure:
        raise UrlRefused("The URL's host could not be looked up. Try again in a moment.") from failure
