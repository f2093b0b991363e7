"""Budgets of A.I. accounts: what a call may cost is reserved before it, and replaced by its cost after it."""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet

from workspaces.automations.models import AiAccount, AiUsage

MILLIONTHS: Final = 1_000_000


def month_of(now: datetime) -> date:
    """Return the month in which usage counts now; `now` is in UTC."""
    return now.date().replace(day=1)


class _BudgetIsUsedUp(Exception):
    """Ends the savepoint, and so the first half of a reservation."""


def reserve(account: AiAccount, *, workspace_id: int, amount: int, month: date) -> bool:
    """Reserve the most that a call may cost, of the account's budget and of the workspace's; say whether both allow it.

    Each is one conditional UPDATE, the account's first, so that calls of one account wait for each other in one order.
    """
    limits = ((None, account.monthly_budget), (workspace_id, account.workspace_budget))
    try:
        with transaction.atomic():
            for workspace, budget in limits:
                if not _reserve_of(account.pk, workspace, budget, amount, month):
                    raise _BudgetIsUsedUp
    except _BudgetIsUsedUp:
        return False
    return True


def _reserve_of(account_id: int, workspace_id: int | None, budget: Decimal | None, amount: int, month: date) -> bool:
    rows = _row(account_id, workspace_id, month)
    if not rows.exists():
        made = AiUsage(account_id=account_id, workspace_id=workspace_id, month=month)
        AiUsage.objects.bulk_create([made], ignore_conflicts=True)
    if budget is not None:
        rows = rows.filter(cost__lte=int(budget * MILLIONTHS) - amount - F("reserved"))
    return rows.update(reserved=F("reserved") + amount) == 1


def _row(account_id: int, workspace_id: int | None, month: date) -> "QuerySet[AiUsage]":
    """Return the row of a workspace, or without one that of all together."""
    of = Q(workspace=None) if workspace_id is None else Q(workspace_id=workspace_id)
    return AiUsage.objects.filter(of, account_id=account_id, month=month)


class Settlement(NamedTuple):
    """What became of a reservation: its cost, and the tokens that the provider counted. A call that was made costs."""

    account_id: int
    workspace_id: int
    month: date
    reserved: int
    cost: int
    input_tokens: int = 0
    output_tokens: int = 0


def settle(settlements: Iterable[Settlement]) -> None:
    """Replace reservations by costs, in the order in which `reserve` takes its locks."""
    for one in sorted(settlements):
        for workspace_id in (None, one.workspace_id):
            _row(one.account_id, workspace_id, one.month).update(
                reserved=F("reserved") - one.reserved,
                cost=F("cost") + one.cost,
                calls=F("calls") + (1 if one.cost else 0),
                input_tokens=F("input_tokens") + one.input_tokens,
                output_tokens=F("output_tokens") + one.output_tokens,
            )
