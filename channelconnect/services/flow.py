"""The customer's way: continue, come back from the provider, choose an account. Providers are never called in a transaction."""

import json
import logging
import secrets
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest

from django.db import transaction

from agency.actors import Actor
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Status
from channelconnect.providers import Account, Grant, ProviderFault, provider_for
from channelconnect.services.endings import end_session
from channelconnect.services.opening import digest
from channelconnect.services.saving import Refused, check_choice, save_choice
from config.errors import Conflict, Forbidden

logger = logging.getLogger(__name__)


class OtherBrowser(Forbidden):
    message = "This connection was started in another browser."


class NotNow(Conflict):
    """The session is not where this step begins; the page shows where it is."""


@dataclass(frozen=True, slots=True)
class Departure:
    """Where the browser goes, and the secret it keeps in its cookie."""

    consent_url: str
    browser: str


def session_of_link(link: str) -> ConnectSession | None:
    """Find a session by its secret link."""
    related = ConnectSession.objects.select_related("agency", "workspace", "channel", "target")
    return related.filter(link_digest=digest(link)).first()


def session_of_state(state: str) -> ConnectSession | None:
    """Find a session by the state that a provider brings back."""
    related = ConnectSession.objects.select_related("agency", "workspace", "channel", "target")
    return related.filter(state_digest=digest(state)).first()


def settle_time(session: ConnectSession, *, now: datetime, by: Actor) -> None:
    """End a session whose time is over."""
    if session.is_open and session.expires_at <= now:
        end_session(session=session, status=Status.EXPIRED, error_code="session_expired", now=now, by=by)


def may_go_on(session: ConnectSession, browser: str | None) -> bool:
    """Whether this is the browser that pressed Continue."""
    bound = session.browser_digest
    return bound is None or (browser is not None and compare_digest(bytes(bound), digest(browser)))


def depart(
    *, session: ConnectSession, browser: str | None, redirect_uri: str, now: datetime, by: Actor
) -> Departure:
    """Bind the session to this browser and give the provider's address; the first browser wins.

    Raises `OtherBrowser`, `NotNow`; an unconfigured provider fails the session and raises `NotNow`.
    """
    cookie = browser or secrets.token_urlsafe(32)
    state = secrets.token_urlsafe(32)
    try:
        consent_url = provider_for(session.platform).consent_url(state=state, redirect_uri=redirect_uri)
    except ProviderFault as fault:
        fail(session=session, fault=fault, now=now, by=by)
        raise NotNow from fault
    with transaction.atomic():
        locked = ConnectSession.objects.select_for_update(no_key=True).get(pk=session.pk)
        if not may_go_on(locked, browser):
            raise OtherBrowser
        if locked.status not in (Status.PENDING, Status.AUTHORIZING) or locked.expires_at <= now:
            raise NotNow
        locked.status, locked.link = Status.AUTHORIZING, None
        locked.browser_digest = locked.browser_digest or digest(cookie)
        locked.state_digest = digest(state)
        locked.save(update_fields=["status", "link", "browser_digest", "state_digest"])
    return Departure(consent_url, cookie)


def arrive(
    *, session: ConnectSession, code: str | None, declined: bool, redirect_uri: str, now: datetime, by: Actor
) -> None:
    """Take the provider's answer: use up its state, exchange the code, list the accounts, move to selecting.

    Whatever goes wrong ends the session; nothing is raised. The caller has checked state and browser.
    """
    used_up = ConnectSession.objects.filter(
        pk=session.pk, status=Status.AUTHORIZING, state_digest=session.state_digest
    ).update(state_digest=None)
    if not used_up:
        return
    if declined:
        code_of_end = "authorization_not_completed"
        end_session(session=session, status=Status.CANCELLED, error_code=code_of_end, now=now, by=by)
        return
    try:
        grant, accounts = _discover(session, code, redirect_uri)
    except ProviderFault as fault:
        fail(session=session, fault=fault, now=now, by=by)
        return
    kept = json.dumps({"grant": grant.to_json(), "accounts": [account.to_json() for account in accounts]})
    waiting = ConnectSession.objects.filter(pk=session.pk, status=Status.AUTHORIZING, state_digest=None)
    with transaction.atomic():
        for row in waiting.select_for_update(no_key=True):
            row.status, row.grant = Status.SELECTING, kept
            row.save(update_fields=["status", "grant"])


def _discover(session: ConnectSession, code: str | None, redirect_uri: str) -> tuple[Grant, list[Account]]:
    if not code:
        raise ProviderFault("token_exchange_failed")
    provider = provider_for(session.platform)
    grant = provider.authorize(code=code, redirect_uri=redirect_uri)
    return grant, provider.accounts(grant)


def discovered(session: ConnectSession) -> tuple[Grant, list[Account]]:
    """What the provider gave, while the customer is choosing. Raises `NotNow` otherwise."""
    if session.status != Status.SELECTING or session.grant is None:
        raise NotNow
    kept = json.loads(session.grant)
    return Grant.from_json(kept["grant"]), [Account.from_json(account) for account in kept["accounts"]]


def choose(*, session: ConnectSession, external_id: str, now: datetime, by: Actor) -> None:
    """Connect the chosen account: check, subscribe, and only then save; whatever goes wrong ends the session.

    Raises `NotNow` when the session is not at its choice or the account is not among those discovered.
    """
    grant, accounts = discovered(session)
    account = next((account for account in accounts if account.external_id == external_id), None)
    if account is None:
        raise NotNow
    try:
        if grant.has_expired(now):
            raise ProviderFault("credentials_expired")
        check_choice(session=session, account=account)
        provider_for(session.platform).subscribe(account, grant)
        save_choice(session=session, account=account, grant=grant, now=now, by=by)
    except ProviderFault as fault:
        fail(session=session, fault=fault, now=now, by=by)
    except Refused as refusal:
        end_session(session=session, status=Status.FAILED, error_code=refusal.code, now=now, by=by)


def fail(*, session: ConnectSession, fault: ProviderFault, now: datetime, by: Actor) -> None:
    """End a session with a provider's fault; its details go to the log only, and without any token."""
    logger.warning("connect session failed", extra={"session": str(session.uuid), "code": fault.code, **fault.log})
    end_session(session=session, status=Status.FAILED, error_code=fault.code, now=now, by=by)


