"""Connects a workspace's own account at the provider, keeps its webhook endpoint, and disconnects it."""

import re
from contextlib import suppress
from datetime import datetime
from typing import Final
from uuid import uuid4, uuid5

from django.db import transaction

from agency.actors import SYSTEM, Actor
from agency.services.hosts import base_url_of
from config.db import database_now
from config.encryption import UnreadableSecret
from config.errors import Conflict, InvalidInput
from workspaces.finance.models import Checkout, Invoice, ProviderAccount, Refund
from workspaces.finance.providers.faults import ProviderFault
from workspaces.finance.providers.stripe import Stripe, WebhookEndpoint
from workspaces.finance.services.accounts import (
    CONNECTING,
    connected_accounts,
    payment_account_of,
    record_account_activity,
    stripe_of,
)
from workspaces.finance.services.checkouts import UNFINISHED, end_checkouts
from workspaces.finance.services.payment_notifications import notify_of_missing_webhooks
from workspaces.finance.services.refunds import fail_refund
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace

# Why no webhooks come: somebody deleted our endpoint at the provider, or disabled it there.
GONE: Final = "gone"
DISABLED: Final = "disabled"
KEY: Final = re.compile(r"(?:rk|sk)_(test|live)_[A-Za-z0-9_]{4,240}", re.ASCII)
WEBHOOK_PATH: Final = "/pay/stripe/"
MOST_OPEN: Final = 100


class KeyRefused(InvalidInput):
    """The key is not one of Stripe's secret keys, or Stripe refuses it. `message` says what to do."""

    field = "key"
    message = "This is not a restricted key of Stripe. It begins with rk_live_ or rk_test_."


class OtherAccount(Conflict):
    message = "This key belongs to another account. Disconnect the present one first."


class AccountIsBusy(Conflict):
    message = "Payments or refunds are on their way. Disconnect when they have ended."


class EndpointRefused(Conflict):
    """The webhook endpoint could not be made. `message` says why."""


REFUSALS: Final = {
    "key_refused": "Stripe refuses this key.",
    "permission_missing": "This key lacks a permission. It needs those that the page names.",
    "unavailable": "Stripe did not answer. Try again in a moment.",
    "rate_limited": "Stripe asks to be called less often. Try again in a moment.",
}


def connect_account(*, workspace: Workspace, key: str, now: datetime, by: Actor) -> ProviderAccount:
    """Connect the account of this key, or give the account that is connected another key of its own.

    It calls the provider, so do not call it inside a transaction. The row is stored before the webhook endpoint is made
    there, so a crash between leaves no endpoint that is not known. Raises `KeyRefused` and `OtherAccount`.
    """
    found = KEY.fullmatch(key)
    if found is None:
        raise KeyRefused
    present = payment_account_of(workspace)
    if present is not None and present.endpoint_id:
        return _change_key(present, key, found[1] == "live", now, by)
    try:
        details = Stripe(key).account()
    except ProviderFault as fault:
        raise _refusal(fault) from fault
    account = _store(workspace, key, now, name=details.name, account_id=details.id, live=found[1] == "live")
    try:
        endpoint = Stripe(key).create_endpoint(url=_webhook_url(account), key=account.uuid)
    except ProviderFault as fault:
        ProviderAccount.objects.filter(pk=account.pk, endpoint_id="").delete()
        raise _refusal(fault) from fault
    return _finish(account, endpoint, by)


@transaction.atomic
def _finish(account: ProviderAccount, endpoint: WebhookEndpoint, by: Actor) -> ProviderAccount:
    locked = connected_accounts().select_for_update(of=("self",), no_key=True).filter(pk=account.pk).first()
    if locked is None:
        raise OtherAccount  # somebody has begun with another key meanwhile
    locked.endpoint_id, locked.webhook_secret, locked.failure = endpoint.id, endpoint.secret, ""
    locked.look_at, locked.looked_until = database_now(), locked.created_at
    locked.save(update_fields=["endpoint_id", "webhook_secret", "failure", "look_at", "looked_until"])
    record_account_activity("connected", locked, by=by)
    return locked


def _refusal(fault: ProviderFault) -> KeyRefused:
    return KeyRefused(REFUSALS.get(fault.code, "Stripe refuses to connect this account."))


@transaction.atomic
def _store(workspace: Workspace, key: str, now: datetime, *, name: str, account_id: str, live: bool) -> ProviderAccount:
    """Store the account. The row of an attempt with the same key that broke off is taken over, with its endpoint."""
    lock_workspace(workspace)
    present = payment_account_of(workspace)
    if present is not None and present.endpoint_id:
        raise OtherAccount
    if present is not None and present.key == key:
        return present
    if present is not None:
        present.delete()
    return ProviderAccount.objects.create(
        uuid=uuid4(),
        workspace=workspace,
        name=name,
        account_id=account_id,
        live=live,
        key=key,
        key_hint=_hint_of(key),
        failure=CONNECTING,
        created_at=now,
    )


def _webhook_url(account: ProviderAccount) -> str:
    return f"{base_url_of(account.workspace.agency_id)}{WEBHOOK_PATH}{account.uuid}"


def _hint_of(key: str) -> str:
    return f"{key[:8]}…{key[-4:]}"


def _change_key(account: ProviderAccount, key: str, is_live: bool, now: datetime, by: Actor) -> ProviderAccount:
    try:
        is_same = is_live == account.live and _belongs_to(Stripe(key), account)
    except ProviderFault as fault:
        raise _refusal(fault) from fault
    if not is_same:
        raise OtherAccount
    with transaction.atomic():
        locked = connected_accounts().select_for_update(of=("self",), no_key=True).get(pk=account.pk)
        locked.key, locked.key_hint, locked.failure, locked.failing_since = key, _hint_of(key), "", None
        locked.save(update_fields=["key", "key_hint", "failure", "failing_since"])
        record_account_activity("key_changed", locked, by=by)
        _begin_anew(locked, now)
    return locked


def _belongs_to(stripe: Stripe, account: ProviderAccount) -> bool:
    """Say whether the key's account is this one: it has our endpoint, or if somebody deleted that, the same id."""
    if stripe.endpoint(account.endpoint_id) is not None:
        return True
    return bool(account.account_id) and stripe.account().id == account.account_id


def _begin_anew(account: ProviderAccount, now: datetime) -> None:
    """Try at once what has waited for a good key."""
    account.events.filter(due_at__gt=now).update(due_at=now)
    Checkout.objects.filter(account=account, check_at__gt=now).update(check_at=now)
    Refund.objects.filter(payment__account=account, call_at__gt=now).update(call_at=now)
    ProviderAccount.objects.filter(pk=account.pk, look_at__gt=now).update(look_at=now)


# The webhook endpoint -----------------------------------------------------------------------------


def check_endpoint(stripe: Stripe, account: ProviderAccount) -> None:
    """Record whether our endpoint still exists and is enabled, and notify the workspace's people if it does not.

    One with an old address, or without some kinds of events, is updated. Nothing is recorded if the key may not read
    endpoints. Raises `ProviderFault`.
    """
    url = _webhook_url(account)
    try:
        found = stripe.endpoint(account.endpoint_id)
        if found and found.is_enabled and (found.url != url or found.lacks_events):
            stripe.update_endpoint(account.endpoint_id, url=url)
    except ProviderFault as fault:
        if fault.code not in {"permission_missing", "refused"}:
            raise
        return
    record_endpoint_failure(account, GONE if found is None else "" if found.is_enabled else DISABLED)


@transaction.atomic
def record_endpoint_failure(account: ProviderAccount, failure: str) -> None:
    """Record why no webhooks come, or with an empty text that they do. The first time, people are notified."""
    before = account.endpoint_failure
    rows = connected_accounts().filter(pk=account.pk, endpoint_id=account.endpoint_id, endpoint_failure=before)
    if before == failure or not rows.update(endpoint_failure=failure):
        return
    account.endpoint_failure = failure
    if not before:
        record_account_activity("webhooks_stopped", account, by=SYSTEM)
        notify_of_missing_webhooks(account, now=database_now())


def renew_endpoint(*, account: ProviderAccount, by: Actor) -> None:
    """Make our webhook endpoint at the provider anew, and look at once for events that did not come.

    It calls the provider, so do not call it inside a transaction. A call that broke off is repeated with the same key.
    Raises `EndpointRefused`.
    """
    try:
        stripe = Stripe(account.key or "")
        endpoint = stripe.create_endpoint(url=_webhook_url(account), key=uuid5(account.uuid, account.endpoint_id))
    except UnreadableSecret as fault:
        raise EndpointRefused(REFUSALS["key_refused"]) from fault
    except ProviderFault as fault:
        raise EndpointRefused(_refusal(fault).message) from fault
    if _store_endpoint(account, endpoint, by):
        with suppress(ProviderFault):  # it is gone already, or sends what we refuse
            stripe.delete_endpoint(account.endpoint_id)


@transaction.atomic
def _store_endpoint(account: ProviderAccount, endpoint: WebhookEndpoint, by: Actor) -> bool:
    """Take over a new endpoint. False if somebody else has done so, or has disconnected the account."""
    rows = connected_accounts().select_for_update(of=("self",), no_key=True)
    locked = rows.filter(pk=account.pk, endpoint_id=account.endpoint_id).first()
    if locked is None:
        return False
    locked.endpoint_id, locked.webhook_secret, locked.endpoint_failure = endpoint.id, endpoint.secret, ""
    locked.look_at = database_now()
    locked.save(update_fields=["endpoint_id", "webhook_secret", "endpoint_failure", "look_at"])
    record_account_activity("webhooks_renewed", locked, by=by)
    return True


# Disconnecting ------------------------------------------------------------------------------------


def disconnect_account(*, account: ProviderAccount, now: datetime, by: Actor) -> None:
    """Forget the key, close open payment pages, and remove our webhook endpoint.

    It calls the provider, so do not call it inside a transaction. If the provider refuses the key, it is forgotten all
    the same. Raises `AccountIsBusy` while a payment or a refund that the provider knows is on its way, unless the key
    is refused.
    """
    is_working = not account.failure
    if is_working:
        _end_open_checkouts(account, now)
    waiting = Refund.objects.filter(payment__account=account, status=Refund.Status.PENDING)
    if is_working and waiting.exclude(tries=0, provider_id="").exists():
        raise AccountIsBusy
    for refund in waiting.filter(tries=0, provider_id="").select_related("payment__invoice")[:MOST_OPEN]:
        fail_refund(refund, failure="disconnected")
    _delete_endpoint(account)
    _forget(account, now, by)


def _end_open_checkouts(account: ProviderAccount, now: datetime) -> None:
    rows = Invoice.objects.filter(checkouts__account=account, checkouts__status__in=UNFINISHED).distinct()
    for invoice in rows[:MOST_OPEN]:
        end_checkouts(invoice=invoice, now=now)


def _delete_endpoint(account: ProviderAccount) -> None:
    if not account.endpoint_id:
        return
    try:
        with stripe_of(account) as stripe:
            stripe.delete_endpoint(account.endpoint_id)
    except ProviderFault:
        return  # the owner can delete it; without an account its events are refused


@transaction.atomic
def _forget(account: ProviderAccount, now: datetime, by: Actor) -> None:
    locked = connected_accounts().select_for_update(of=("self",), no_key=True).filter(pk=account.pk).first()
    if locked is None:
        return
    locked.key = locked.webhook_secret = None
    locked.failure = locked.endpoint_failure = locked.look_failure = locked.look_cursor = ""
    locked.failing_since, locked.disconnected_at = None, now
    locked.look_at = locked.look_began_at = None
    locked.save()
    Checkout.objects.filter(account=locked, status__in=UNFINISHED).update(
        status=Checkout.Status.FAILED, failure="disconnected", check_at=None, ended_at=now
    )
    locked.events.filter(due_at__isnull=False).update(due_at=None, failure="disconnected")
    Refund.objects.filter(payment__account=locked, call_at__isnull=False).update(call_at=None, failure="disconnected")
    record_account_activity("disconnected", locked, by=by)
