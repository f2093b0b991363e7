"""The customer's steps: continue, come back from the provider to the session's own host, choose an account.

No provider is called inside a transaction.
"""

import json
import logging
import re
from dataclasses import dataclass, replace
from datetime import datetime
from hmac import compare_digest
from typing import Final, NamedTuple
from urllib.parse import urlencode

from cryptography.fernet import InvalidToken
from django.db import transaction

from agency.actors import Actor
from agency.services.hosts import agency_of_host, url_of_host
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import SessionStatus
from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.platforms import provider_for
from channelconnect.services.sessions.creation import digest, new_secret, new_state
from channelconnect.services.sessions.ending import end_session, expire_if_due
from channelconnect.services.sessions.saving import Choice, Refused, check_choice, save_choice
from channelconnect.services.settings import may_keep_business_app
from channelconnect.services.subscriptions import subscription_to_undo
from config.encryption import encrypted_value, keyring
from config.errors import Conflict, Forbidden

logger = logging.getLogger(__name__)
BROWSER = re.compile(r"[\w-]{43}", re.ASCII)


class OtherBrowser(Forbidden):
    message = "This connection was started in another browser."


class WrongStatus(Conflict):
    """The session's status does not allow this step. Its page shows the status."""


class TenantSuspended(Conflict):
    message = "This account is suspended, so you cannot connect anything to it."


@dataclass(frozen=True, slots=True)
class ConsentRedirect:
    """The address for the browser, and the secret for its cookie."""

    consent_url: str
    browser: str


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """The response that the browser brings back from the provider."""

    state: str
    code: str | None
    is_declined: bool


class AuthorizedAccounts(NamedTuple):
    """A provider's grant, and the accounts that it listed at that time."""

    grant: Grant
    accounts: list[Account]
    listed_at: datetime


def is_bound_to(session: ConnectSession, browser: str | None) -> bool:
    """Whether this is the browser that pressed Continue."""
    bound = session.browser_digest
    return bound is not None and browser is not None and compare_digest(bytes(bound), digest(browser))


def require_same_browser(session: ConnectSession, browser: str | None) -> None:
    """Raise `OtherBrowser` if the session is bound to another browser."""
    if session.browser_digest is not None and not is_bound_to(session, browser):
        raise OtherBrowser


def require_active_tenant(session: ConnectSession) -> None:
    """Raise `TenantSuspended` while the agency or the sub-account is suspended."""
    if not (session.agency.is_active and session.workspace.is_active):
        raise TenantSuspended


def start_authorization(
    *,
    session: ConnectSession,
    browser: str | None,
    redirect_uri: str,
    now: datetime,
    by: Actor,
    host: str = "",
    keeps_business_app: bool = False,
) -> ConsentRedirect:
    """Bind the session to this browser and return the provider's address. The first browser wins.

    `host` is the agency's host on which the browser is and has its cookie. `keeps_business_app` is the customer's
    choice to go on using the WhatsApp Business app; it counts only where the agency allows it. Raises `OtherBrowser`,
    `TenantSuspended` and `WrongStatus`. A provider that is not set up ends the session and raises `WrongStatus`.
    """
    require_same_browser(session, browser)
    expire_if_due(session=session, now=now, by=by)
    if session.status not in (SessionStatus.PENDING, SessionStatus.AUTHORIZING):
        raise WrongStatus
    require_active_tenant(session)
    cookie = browser if browser and BROWSER.fullmatch(browser) else new_secret()
    state = new_state(session)
    keeps_app = keeps_business_app and may_keep_business_app(session)
    try:
        provider = provider_for(session.platform)
        consent_url = provider.consent_url(state=state, redirect_uri=redirect_uri, keeps_app=keeps_app)
    except ProviderFault as fault:
        # The browser that pressed Continue is bound, so that it is led back as after any other end.
        _bind(session, cookie, state, host, keeps_app)
        fail_session(session=session, fault=fault, now=now, by=by)
        raise WrongStatus from fault
    _bind(session, cookie, state, host, keeps_app)
    return ConsentRedirect(consent_url, cookie)


@transaction.atomic
def _bind(session: ConnectSession, cookie: str, state: str, host: str, keeps_app: bool) -> None:
    locked = ConnectSession.objects.select_for_update(no_key=True).get(pk=session.pk)
    require_same_browser(locked, cookie)
    if locked.status not in (SessionStatus.PENDING, SessionStatus.AUTHORIZING):
        raise WrongStatus
    locked.status, locked.link = SessionStatus.AUTHORIZING, None
    locked.browser_digest, locked.state_digest = digest(cookie), digest(state)
    locked.host, locked.keeps_business_app = host, keeps_app
    bound = ["status", "link", "browser_digest", "state_digest", "host", "keeps_business_app"]
    locked.save(update_fields=bound)


def decline_session(*, session: ConnectSession, browser: str | None, now: datetime, by: Actor) -> None:
    """End the session because the customer pressed Cancel. Raises `OtherBrowser`."""
    require_same_browser(session, browser)
    expire_if_due(session=session, now=now, by=by)
    _cancel(session, now, by)


def _cancel(session: ConnectSession, now: datetime, by: Actor) -> None:
    code = "authorization_not_completed"
    end_session(session=session, status=SessionStatus.CANCELLED, error_code=code, now=now, by=by)


def complete_authorization(
    *,
    session: ConnectSession,
    browser: str | None,
    response: AuthorizationResponse,
    redirect_uri: str,
    now: datetime,
    by: Actor,
) -> None:
    """Handle the provider's response: use up its state, exchange the code, list the accounts, move to selecting.

    Any fault at the provider ends the session. A state that is used, replaced or foreign changes nothing, and so does a
    session that has moved on. Raises `OtherBrowser`.
    """
    if not is_bound_to(session, browser):
        raise OtherBrowser
    expire_if_due(session=session, now=now, by=by)
    ours = ConnectSession.objects.filter(
        pk=session.pk, status=SessionStatus.AUTHORIZING, state_digest=digest(response.state)
    )
    if not ours.update(state_digest=None):
        return
    if response.is_declined:
        _cancel(session, now, by)
        return
    try:
        grant, accounts = _authorize(session, response.code, redirect_uri)
    except ProviderFault as fault:
        fail_session(session=session, fault=fault, now=now, by=by)
        return
    listed = [account.to_json() for account in accounts]
    kept = json.dumps({"grant": grant.to_json(), "accounts": listed, "listed_at": now.isoformat()})
    waiting = ConnectSession.objects.in_time().filter(
        pk=session.pk, status=SessionStatus.AUTHORIZING, state_digest=None
    )
    waiting.update(status=SessionStatus.SELECTING, grant=encrypted_value(session, "grant", kept))


def _authorize(session: ConnectSession, code: str | None, redirect_uri: str) -> tuple[Grant, list[Account]]:
    if not code:
        raise ProviderFault("token_exchange_failed", reason="no_code")
    provider = provider_for(session.platform)
    grant = provider.authorize(code=code, redirect_uri=redirect_uri)
    grant = replace(grant, keeps_app=session.keeps_business_app)
    return grant, provider.accounts(grant)


def authorized_accounts(session: ConnectSession) -> AuthorizedAccounts:
    """Return the provider's grant and accounts while the customer is choosing. Raises `WrongStatus` otherwise."""
    if session.status != SessionStatus.SELECTING or session.grant is None:
        raise WrongStatus
    kept = json.loads(session.grant)
    return AuthorizedAccounts(
        Grant.from_json(kept["grant"]),
        [Account.from_json(account) for account in kept["accounts"]],
        datetime.fromisoformat(kept["listed_at"]),
    )


def select_account(*, session: ConnectSession, browser: str | None, external_id: str, now: datetime, by: Actor) -> None:
    """Connect the chosen account: check, subscribe, and save it last. Any fault ends the session.

    Raises `OtherBrowser`, `TenantSuspended`, `WrongStatus` if the session is not selecting or the account was not
    listed, and `AccountBusy` if the choice can be made again in a moment.
    """
    if not is_bound_to(session, browser):
        raise OtherBrowser
    expire_if_due(session=session, now=now, by=by)
    grant, accounts, listed_at = authorized_accounts(session)
    require_active_tenant(session)
    account = next((account for account in accounts if account.external_id == external_id), None)
    if account is None:
        raise WrongStatus
    try:
        if grant.has_expired(now):
            raise ProviderFault("credentials_expired", reason="grant_expired")
        check_choice(session=session, account=account)
        with subscription_to_undo(session=session, account=account, grant=grant) as expected:
            provider_for(session.platform).subscribe(account, grant)
            choice = Choice(account, grant, listed_at)
            save_choice(session=session, choice=choice, expected=expected, now=now, by=by)
    except ProviderFault as fault:
        fail_session(session=session, fault=fault, now=now, by=by)
    except Refused as refusal:
        end_session(session=session, status=SessionStatus.FAILED, error_code=refusal.code, now=now, by=by)


def fail_session(*, session: ConnectSession, fault: ProviderFault, now: datetime, by: Actor) -> None:
    """End a session because of a provider's fault. Details go only to the log, without any token."""
    logger.warning("connect session failed", extra={**fault.log, "session": str(session.uuid), "code": fault.code})
    end_session(session=session, status=SessionStatus.FAILED, error_code=fault.code, now=now, by=by)


# The browser carries the response encrypted. If we no longer serve the agency's host, its new server learns no code.

PARAMETER: Final = "response"
LASTS_SECONDS: Final = 300
KIND: Final = "authorization_response"


def forwarding_address(session: ConnectSession, response: AuthorizationResponse, *, path: str) -> str | None:
    """Return the address that takes the response to the session's host; None if it began on the installation's host.

    A host that the agency no longer has would not send us the cookie, so its session cannot go on.
    """
    if not session.host or agency_of_host(session.host) != session.agency_id:
        return None
    told = json.dumps([KIND, response.state, response.code, response.is_declined])
    sealed = keyring().encrypt(told.encode()).decode()
    return f"{url_of_host(session.host)}{path}?{urlencode({PARAMETER: sealed})}"


def forwarded_response(sealed: str) -> AuthorizationResponse | None:
    """Decrypt the response that `forwarding_address` sealed, for a few minutes; None for anything else."""
    try:
        kind, state, code, is_declined = json.loads(keyring().decrypt(sealed.encode(), ttl=LASTS_SECONDS))
    except (InvalidToken, ValueError, TypeError):
        return None
    return AuthorizationResponse(state, code, is_declined=is_declined) if kind == KIND else None
