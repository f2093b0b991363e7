"""An agency's connect settings: our support sets the switch, the agency sets the return URLs."""

import re
from collections.abc import Sequence
from datetime import timedelta
from ipaddress import ip_address
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_noop

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from agency.services.hosts import base_url_of
from channelconnect.models import ConnectSession, ConnectSettings
from channelconnect.models.sessions import Platform
from config.errors import Forbidden, InvalidInput
from config.retention import ExpiredRows

KEPT = timedelta(days=settings.CONNECT_SESSIONS_KEPT_DAYS)
RULES = (
    ExpiredRows("channelconnect_connectsession", "ended_at", KEPT).rule("connect_sessions"),
    ExpiredRows("channelconnect_unsubscription", "ended_at", KEPT).rule("unsubscriptions"),
    ExpiredRows(
        "channelconnect_providernotice", "received_at", timedelta(days=settings.PROVIDER_NOTICES_KEPT_DAYS)
    ).rule("provider_notices"),
    ExpiredRows("channelconnect_mediaupload", "uploaded_at", timedelta(days=30)).rule("media_uploads"),
    # Changes of messages that never arrived.
    ExpiredRows("conversations_parkedchange", "parked_at", timedelta(days=1)).rule("parked_changes"),
)


MOST_RETURN_URLS = 20
LONGEST_URL = 2_048
HTTPS_URL = re.compile(r"https://[^\s\\@?#\"<>\x00-\x20\x7f]+", re.ASCII)
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)


NO_RETURN_URL = gettext_noop("Each return URL must be an https URL without query string, fragment or credentials.")
BLANKS = gettext_noop("A return URL must not begin or end with a blank.")
UPPER_SCHEME = gettext_noop("The beginning of a return URL must be in lower case: https://.")
PUNYCODE = gettext_noop("The host of a return URL must be in ASCII: write its xn-- form (punycode).")


class ConnectIsOff(Forbidden):
    message = "Channel connect is not enabled for this agency."


class ReturnUrlRefused(InvalidInput):
    def __init__(self, position: int, reason: str) -> None:
        self.position = position
        super().__init__(reason, field=f"return_urls.{position}")


def settings_of(agency: Agency) -> ConnectSettings:
    """Return the agency's settings. If none are saved, the feature is off without return URLs."""
    return ConnectSettings.objects.filter(agency=agency).first() or ConnectSettings(agency=agency)


def require_connect(agency: Agency) -> ConnectSettings:
    """Return the settings of an agency that may connect channels. Raises `ConnectIsOff`."""
    settings = settings_of(agency)
    if not settings.enabled:
        raise ConnectIsOff
    return settings


@transaction.atomic
def set_return_urls(*, agency: Agency, return_urls: Sequence[str], by: Actor) -> ConnectSettings:
    """Replace the whole list. Raises `ReturnUrlRefused` for the first URL that is not allowed."""
    for position, url in enumerate(return_urls):
        if not is_return_url(url):
            raise ReturnUrlRefused(position, _why_refused(url))
    unique = list(dict.fromkeys(return_urls))
    saved = _lock(agency)
    if saved.return_urls == unique:
        return saved
    changes = {"return_urls": (saved.return_urls, unique)}
    saved.return_urls = unique
    saved.save(update_fields=["return_urls", "changed_at"])
    target = ("connect_settings", agency.uuid, agency.name)
    record_activity(by=by, action="connect.return_urls_changed", agency_id=agency.pk, target=target, changes=changes)
    return saved


@transaction.atomic
def let_customers_connect(*, agency: Agency, allowed: bool, by: Actor) -> ConnectSettings:
    """Say whether the agency's customers may start connections themselves."""
    saved = _lock(agency)
    if saved.customers_connect == allowed:
        return saved
    saved.customers_connect = allowed
    saved.save(update_fields=["customers_connect", "changed_at"])
    record_activity(
        by=by,
        action="connect.customers_changed",
        agency_id=agency.pk,
        target=("connect_settings", agency.uuid, agency.name),
        changes={"customers_connect": (not allowed, allowed)},
    )
    return saved


@transaction.atomic
def allow_business_app(*, agency: Agency, allowed: bool, by: Actor) -> ConnectSettings:
    """Say whether customers' WhatsApp numbers may stay in the WhatsApp Business app."""
    saved = _lock(agency)
    if saved.allows_business_app == allowed:
        return saved
    saved.allows_business_app = allowed
    saved.save(update_fields=["allows_business_app", "changed_at"])
    record_activity(
        by=by,
        action="connect.business_app_changed",
        agency_id=agency.pk,
        target=("connect_settings", agency.uuid, agency.name),
        changes={"allows_business_app": (not allowed, allowed)},
    )
    return saved


def may_keep_business_app(session: ConnectSession) -> bool:
    """Say whether the session's number may stay in the WhatsApp Business app."""
    if session.platform != Platform.WHATSAPP:
        return False
    return ConnectSettings.objects.filter(agency=session.agency_id, allows_business_app=True).exists()


def customers_may_connect(agency: Agency) -> bool:
    """Say whether channel connect is on for the agency, and its customers may start connections themselves."""
    return ConnectSettings.objects.filter(agency=agency, enabled=True, customers_connect=True).exists()


def dashboard_return_url(agency_id: int) -> str:
    """Return the page of channels in the dashboard, to which connections return that customers started there."""
    return f"{base_url_of(agency_id)}{reverse('app:channels')}"


@transaction.atomic
def switch_connect(*, agency: Agency, enabled: bool, reason: str, by: Actor) -> ConnectSettings:
    """Turn channel connect on or off for an agency. Sessions under way may finish."""
    saved = _lock(agency)
    if saved.enabled == enabled:
        return saved
    saved.enabled = enabled
    saved.save(update_fields=["enabled", "changed_at"])
    action = "connect.turned_on" if enabled else "connect.turned_off"
    target = ("connect_settings", agency.uuid, agency.name)
    record_activity(by=by, action=action, agency_id=agency.pk, target=target, details={"reason": reason})
    return saved


def _lock(agency: Agency) -> ConnectSettings:
    """Lock the agency's row; create it the first time."""
    ConnectSettings.objects.bulk_create([ConnectSettings(agency=agency)], ignore_conflicts=True)
    return ConnectSettings.objects.select_for_update(no_key=True).get(agency=agency)


def is_return_url(url: str) -> bool:
    """Allow only https, a host and perhaps a path, and nothing that two parsers may read differently."""
    if len(url) > LONGEST_URL or not HTTPS_URL.fullmatch(url) or not url.isascii():
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return port != 0 and not parts.netloc.endswith(":") and _is_host(parts.hostname or "")


def _why_refused(url: str) -> str:
    """Return the single fault to correct, or the general rule."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if url != url.strip():
        return BLANKS
    if not host.isascii() and is_return_url(f"{scheme}{separator}x{slash}{path}"):
        return PUNYCODE
    return UPPER_SCHEME if is_return_url(f"{scheme.lower()}{separator}{rest}") else NO_RETURN_URL


def _is_host(host: str) -> bool:
    """Allow a name or an IP address. A name that ends in a number is read as an address, and must be a valid one."""
    labels = host.removesuffix(".").split(".")
    if ":" not in host and not labels[-1].isdigit():
        return all(map(LABEL.fullmatch, labels))
    try:
        ip_address(".".join(labels))
    except ValueError:
        return False
    return True


def build_return_url(session: ConnectSession, *, has_state: bool = True) -> str | None:
    """Return the return URL with `connection_id`, and `state` if `has_state`; None if it is no longer registered.

    The dashboard's own page of channels needs no registration.
    """
    if session.return_url == dashboard_return_url(session.agency_id):
        return session.return_url
    if session.return_url not in settings_of(session.agency).return_urls:
        return None
    query = {"connection_id": str(session.uuid)}
    if has_state and session.state is not None:
        query["state"] = session.state
    return f"{session.return_url}?{urlencode(query, quote_via=quote)}"


def return_host(session: ConnectSession) -> str:
    """Return the host to which the browser will return, for people to read."""
    return urlsplit(session.return_url).netloc
