"""The names that may be an agency's domain."""

import re

from django.conf import settings

from agency.models.branding.domains import HOST_PATTERN, LONGEST_HOST, VERIFICATION_LABEL
from config.errors import InvalidInput
from config.http.guard import HostInvalid, ascii_host, is_internal_name

_HOST = re.compile(HOST_PATTERN, re.ASCII)


class HostRefused(InvalidInput):
    """The message says what is wrong with the name."""

    field = "host"
    message = "Give the domain alone, such as app.example.com: no https://, no port, no address in numbers."


class HostHasOneLabel(HostRefused):
    message = "Give a whole domain, such as app.example.com."


class HostIsInternal(HostRefused):
    message = "This name means nothing on the internet."


class HostIsInstallations(HostRefused):
    message = "This domain belongs to the service itself."


def checked_host(text: str) -> str:
    """Return a domain in its canonical spelling: ASCII (IDNA), lower case, no final dot. Raises `HostRefused`."""
    try:
        host = ascii_host(text.strip())
    except HostInvalid:
        raise HostRefused from None
    if "." not in host:
        raise HostHasOneLabel if host.replace("-", "").isalnum() else HostRefused
    if len(f"{VERIFICATION_LABEL}.{host}") > LONGEST_HOST or not _HOST.fullmatch(host):
        raise HostRefused
    if settings.PRODUCTION and is_internal_name(host):
        raise HostIsInternal
    if _is_installations(host):
        raise HostIsInstallations
    return host


def _is_installations(host: str) -> bool:
    """Whether the settings name this host or a name above it; names below the settings' local hosts are free."""
    above = {name.removeprefix(".") for name in settings.HOSTS - settings.LOCAL_HOSTS}
    return host in settings.HOSTS or any(host == name or host.endswith(f".{name}") for name in above)
