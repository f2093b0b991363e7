"""Budgets of agencies and their A.I. accounts: what a call may cost is reserved before it, its cost recorded after it.

A call locks up to three rows of usage, always in this order: that of the agency, of the account, and of the workspace.
"""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy

from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import record_notification
from agency.tenants import Tenant
from config.db import database_now
from workspaces.automations.models import AgencyAiBudget, AgencyAiUsage, AiAccount, AiUsage

MILLIONTHS: Final = 1_000_000
# People are notified when so many per cent of the agency's budget are used, and when it stops a call.
NEARLY_USED: Final = 80
USED_UP: Final = 100
NOTIFIED_AT: Final = {NEARLY_USED: "ai_budget.nearly_used", USED_UP: "ai_budget.used_up"}
BUDGET_PAGE: Final = "console:ai-accounts"
BUDGET_KINDS: Final = (
    NotificationKind(
        name=NOTIFIED_AT[NEARLY_USED],
        label=gettext_lazy("The A.I. budget is nearly used up"),
        text=gettext_lazy("80%% of this month\u2019s budget of %(budget)s for all A.I. accounts are used."),
        url_name=BUDGET_PAGE,
    ),
    NotificationKind(
        name=NOTIFIED_AT[USED_UP],
        label=gettext_lazy("The A.I. budget is used up"),
        text=gettext_lazy(
            "This month\u2019s budget of %(budget)s for all A.I. accounts is used up. Automations go on without A.I."
        ),
        url_name=BUDGET_PAGE,
    ),
)


def month_of(now: datetime) -> date:
    """Return the month in which usage counts now; `now` is in UTC."""
    return now.date().replace(day=1)


class _BudgetIsUsedUp(Exception):
    """Ends the savepoint, and so the first parts of a reservation."""

    def __init__(self, *, of_agency: bool = False) -> None:
        super().__init__(of_agency)
        self.of_agency = of_agency


def reserve(account: AiAccount, *, workspace_id: int, amount: int, month: date) -> bool:
    """Reserve the most that a call may cost, and say whether the budgets allow it.

    These are the budgets of the agency, of the account and of the workspace. Each is one conditional UPDATE.
    """
    agency_budget = agency_budget_of(account.agency_id)
    limits = ((None, account.monthly_budget), (workspace_id, account.workspace_budget))
    try:
        with transaction.atomic():
            if not _reserve_of_agency(account.agency_id, agency_budget, amount, month):
                raise _BudgetIsUsedUp(of_agency=True)
            for workspace, budget in limits:
                if not _reserve_of(account.pk, workspace, budget, amount, month):
                    raise _BudgetIsUsedUp
    except _BudgetIsUsedUp as refusal:
        if refusal.of_agency and agency_budget is not None:
            _notify(account.agency_id, agency_budget, USED_UP, month)
        return False
    return True


def _reserve_of_agency(agency_id: int, budget: Decimal | None, amount: int, month: date) -> bool:
    rows = AgencyAiUsage.objects.filter(agency_id=agency_id, month=month)
    if not rows.exists():
        made = AgencyAiUsage(agency_id=agency_id, month=month)
        AgencyAiUsage.objects.bulk_create([made], ignore_conflicts=True)
    return _add_reservation(rows, budget, amount)


def _add_reservation(rows: "QuerySet[AgencyAiUsage] | QuerySet[AiUsage]", budget: Decimal | None, amount: int) -> bool:
    if budget is not None:
        rows = rows.filter(cost__lte=int(budget * MILLIONTHS) - amount - F("reserved"))
    return rows.update(reserved=F("reserved") + amount) == 1


def _reserve_of(account_id: int, workspace_id: int | None, budget: Decimal | None, amount: int, month: date) -> bool:
    rows = _row(account_id, workspace_id, month)
    if not rows.exists():
        made = AiUsage(account_id=account_id, workspace_id=workspace_id, month=month)
        AiUsage.objects.bulk_create([made], ignore_conflicts=True)
    return _add_reservation(rows, budget, amount)


def _row(account_id: int, workspace_id: int | None, month: date) -> "QuerySet[AiUsage]":
    """Return the row of a workspace, or without one that of all together."""
    of = Q(workspace=None) if workspace_id is None else Q(workspace_id=workspace_id)
    return AiUsage.objects.filter(of, account_id=account_id, month=month)


class Settlement(NamedTuple):
    """What became of a reservation: its cost, and the tokens that the provider counted. A call that was made costs.

    Sorted, settlements stand in the order in which `reserve` takes its locks.
    """

    agency_id: int
    month: date
    account_id: int
    workspace_id: int
    reserved: int
    cost: int
    input_tokens: int = 0
    output_tokens: int = 0


def settle(settlements: Iterable[Settlement]) -> None:
    """Replace reservations by costs, and notify the agencies whose budgets are nearly used up."""
    ordered = sorted(settlements)
    for one in ordered:
        spent = {"reserved": F("reserved") - one.reserved, "cost": F("cost") + one.cost}
        AgencyAiUsage.objects.filter(agency_id=one.agency_id, month=one.month).update(**spent)
        for workspace_id in (None, one.workspace_id):
            _row(one.account_id, workspace_id, one.month).update(
                **spent,
                calls=F("calls") + (1 if one.cost else 0),
                input_tokens=F("input_tokens") + one.input_tokens,
                output_tokens=F("output_tokens") + one.output_tokens,
            )
    for agency_id, month in dict.fromkeys((one.agency_id, one.month) for one in ordered):
        _notify_if_nearly_used(agency_id, month)


# The agency's budget ---------------------------------------------------------------------------------


def agency_budget_of(agency_id: int) -> Decimal | None:
    """Return the budget of all A.I. accounts of an agency together; None if it has none."""
    return AgencyAiBudget.objects.filter(agency_id=agency_id).values_list("monthly_budget", flat=True).first()


def agency_spending(agency_id: int, now: datetime) -> Decimal:
    """Return what all A.I. accounts of an agency have cost this month."""
    usage = AgencyAiUsage.objects.filter(agency_id=agency_id, month=month_of(now))
    return Decimal(usage.values_list("cost", flat=True).first() or 0) / MILLIONTHS


def _notify_if_nearly_used(agency_id: int, month: date) -> None:
    budget = agency_budget_of(agency_id)
    if not budget:
        return
    share = int(budget * MILLIONTHS) * NEARLY_USED // 100
    if AgencyAiUsage.objects.filter(agency_id=agency_id, month=month, cost__gte=share, notified=0).exists():
        _notify(agency_id, budget, NEARLY_USED, month)


def _notify(agency_id: int, budget: Decimal, percent: int, month: date) -> None:
    """Notify the agency's people once of a share of a budget; a changed budget counts anew."""
    rows = AgencyAiUsage.objects.filter(agency_id=agency_id, month=month, notified__lt=percent)
    if rows.update(notified=percent):
        record_notification(
            tenant=Tenant(agency_id),
            kind=NOTIFIED_AT[percent],
            key=f"{month:%Y-%m}:{budget}",
            data={"budget": f"{budget:.2f}"},
            now=database_now(),
        )
