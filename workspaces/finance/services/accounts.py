"""The payment account of a workspace: its client, and what keeps it from working."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import SYSTEM, Actor
from config.db import database_now
from config.encryption import UnreadableSecret
from config.errors import FeatureDisabled
from workspaces.finance.models import ProviderAccount
from workspaces.finance.providers.faults import OF_THE_KEY, ProviderFault
from workspaces.finance.providers.stripe import Stripe
from workspaces.finance.services.payment_notifications import notify_of_failing_account
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity

logger = logging.getLogger(__name__)

# The account was stored, and its webhook endpoint is not made yet.
CONNECTING: Final = "connecting"


class PaymentsUnavailable(FeatureDisabled):
    message = "Online payment is not available right now. Try again later."


def connected_accounts() -> "QuerySet[ProviderAccount]":
    return ProviderAccount.objects.filter(disconnected_at=None).select_related("workspace__agency")


def payment_account_of(workspace: Workspace) -> ProviderAccount | None:
    """Return the account that is connected, even if it does not work at the moment."""
    return connected_accounts().filter(workspace=workspace).first()


def accepts_payments(workspace: Workspace) -> bool:
    """Say whether people can pay this workspace's invoices online."""
    return connected_accounts().filter(workspace=workspace, failure="").exists()


def require_account(workspace: Workspace) -> ProviderAccount:
    """Return the account if it works. Raises `PaymentsUnavailable`."""
    found = payment_account_of(workspace)
    if found is None or found.failure:
        raise PaymentsUnavailable
    return found


@contextmanager
def stripe_of(account: ProviderAccount, *, ends: frozenset[str] = OF_THE_KEY) -> Iterator[Stripe]:
    """Give Stripe with the account's key, outside any transaction. A fault of the key stops the account.

    A call that goes well ends such a stop, if its reason is one of `ends`. Raises `ProviderFault`.
    """
    try:
        key = account.key
    except UnreadableSecret:
        key = None
    try:
        if not key:
            raise ProviderFault("key_refused", "unreadable")
        yield Stripe(key)
    except ProviderFault as fault:
        log = {"account": str(account.uuid), "code": fault.code, "reason": fault.reason}
        logger.warning("a call of the payment provider failed", extra=log)
        if fault.code in OF_THE_KEY:
            stop_account(account, code=fault.code, now=database_now())
        raise
    if account.failure in ends:
        start_account_again(account)


@transaction.atomic
def stop_account(account: ProviderAccount, *, code: str, now: datetime) -> None:
    """Record that the provider refuses the key, and notify the workspace's people once."""
    rows = connected_accounts().filter(pk=account.pk, failure="")
    if not rows.update(failure=code, failing_since=now):
        return
    record_account_activity("failing", account, by=SYSTEM)
    notify_of_failing_account(account, now=now)


def start_account_again(account: ProviderAccount) -> None:
    connected_accounts().filter(pk=account.pk, failure__in=OF_THE_KEY).update(failure="", failing_since=None)
    account.failure = ""


def record_account_activity(what: str, account: ProviderAccount, *, by: Actor) -> None:
    """Add an entry such as `payment_account.connected`. Of the key it has only the hint."""
    details = {"provider": account.provider, "account": account.account_id, "key": account.key_hint}
    record_workspace_activity(workspace=account.workspace, action=f"payment_account.{what}", by=by, details=details)
