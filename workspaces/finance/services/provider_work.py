"""Calls the payment provider for rows that are due: events, refunds, checkouts, payouts to list, and looks for events.

Accounts take turns, each with one thread at a time and its own key. So an account whose calls time out holds up
nothing but itself, and an account's facts are recorded one after another. Each piece of work is counted before it
begins; one that fails waits longer each time.
"""

import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice
from typing import Any, Final, Generic, TypeVar

from django.db import connections
from django.db.models import Model, QuerySet
from django.db.models.functions import Now

from config.db import TimeOrExpression, database_now
from config.tries.counting import run_counted
from workspaces.finance.models import Checkout, Payout, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.providers.faults import OF_THE_KEY, ProviderFault
from workspaces.finance.providers.stripe import Stripe
from workspaces.finance.services.accounts import connected_accounts, stripe_of
from workspaces.finance.services.checkouts import check_checkout, due_checkouts
from workspaces.finance.services.payouts import due_payouts, end_listing, list_payout_transactions
from workspaces.finance.services.provider_events import (
    due_events,
    due_looks,
    end_event,
    give_look_up,
    handle_event,
    look_for_events,
)
from workspaces.finance.services.refunds import call_refund, due_refunds

EVENT_KIND: Final = "provider event"
REFUND_KIND: Final = "refund"
CHECKOUT_KIND: Final = "checkout"
LOOK_KIND: Final = "look for events"
PAYOUT_KIND: Final = "payout"
THREADS: Final = 8
TURN: Final = 20
# A turn begins nothing more after this time. One piece of work may make a few calls of ten seconds.
TURN_SECONDS: Final = 15.0
FIRST_ROWS: Final = 200
Row = TypeVar("Row", bound=Model)
# After a fault the account rests, so that the same fault does not cost a thread again at once.
REST_SECONDS: Final = 20.0
FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(hours=6)
# Some three days, as long as Stripe sends an event again.
MOST_EVENT_TRIES: Final = 20


@dataclass(frozen=True, slots=True)
class WorkKind(Generic[Row]):
    """A kind of rows: which are due, how one is done, and how one that broke its process five times ends.

    `account` is the path from the row to its account, `due` the column with its due time, `tries` and `failure` those
    with the number of tries and what the last one failed of. If it goes well, stops of the account for `ends` end.
    """

    name: str
    rows: Callable[[TimeOrExpression], "QuerySet[Row]"]
    account: str
    due: str
    related: tuple[str, ...]
    do: Callable[[Stripe, Row], None]
    give_up: Callable[[Row], None]
    tries: str = "tries"
    failure: str = "failure"
    ends: frozenset[str] = OF_THE_KEY

    def accounts(self, now: TimeOrExpression, without: Collection[int]) -> list[int]:
        """Return the accounts of the first due rows, those of `without` left out."""
        rows = self.rows(now).exclude(**{f"{self.account}__in": without})
        return list(rows.values_list(self.account, flat=True)[:FIRST_ROWS])

    def due_of(self, account: ProviderAccount, now: TimeOrExpression) -> "QuerySet[Row]":
        return self.rows(now).filter(**{self.account: account.pk}).select_related(*self.related)


def _give_event_up(event: ProviderEvent) -> None:
    end_event(event, failure="broke_off")


def _give_checkout_up(checkout: Checkout) -> None:
    Checkout.objects.filter(pk=checkout.pk).update(check_at=None, failure="broke_off")


def _give_payout_up(payout: Payout) -> None:
    end_listing(payout, failure="broke_off")


def _give_refund_up(refund: Refund) -> None:
    Refund.objects.filter(pk=refund.pk).update(call_at=None, failure="broke_off")


KINDS: Final[tuple[WorkKind[Any], ...]] = (
    WorkKind(EVENT_KIND, due_events, "account", "due_at", ("account",), handle_event, _give_event_up),
    WorkKind(
        REFUND_KIND,
        due_refunds,
        "payment__account",
        "call_at",
        ("payment__invoice__workspace__agency", "payment__account"),
        call_refund,
        _give_refund_up,
    ),
    WorkKind(
        CHECKOUT_KIND,
        due_checkouts,
        "account",
        "check_at",
        ("invoice__workspace__agency", "account__workspace__agency"),
        check_checkout,
        _give_checkout_up,
    ),
    WorkKind(PAYOUT_KIND, due_payouts, "account", "list_at", ("account",), list_payout_transactions, _give_payout_up),
    # A look needs other permissions than payments do, so it does not say that these are there again.
    WorkKind(
        LOOK_KIND,
        due_looks,
        "pk",
        "look_at",
        ("workspace__agency",),
        look_for_events,
        give_look_up,
        tries="look_tries",
        failure="look_failure",
        ends=frozenset({"key_refused"}),
    ),
)


def call_providers(*, seconds: float) -> int:
    """Work until nothing is due or the seconds are over. Returns how many turns accounts had."""
    until, turns = time.monotonic() + seconds, 0
    resting: dict[int, float] = {}
    running: dict[Future[bool], int] = {}
    with ThreadPoolExecutor(THREADS, thread_name_prefix="payments") as pool:
        while time.monotonic() < until:
            away = {*running.values(), *(pk for pk, end in resting.items() if end > time.monotonic())}
            for pk in islice(_accounts_with_work(away), THREADS - len(running)):
                running[pool.submit(_turn_in_thread, pk)] = pk
                turns += 1
            if not running:
                break
            for ended in wait(running, timeout=1.0, return_when=FIRST_COMPLETED).done:
                pk = running.pop(ended)
                if not ended.result():
                    resting[pk] = time.monotonic() + REST_SECONDS
    return turns


def _accounts_with_work(away: Collection[int]) -> Iterator[int]:
    found = chain.from_iterable(kind.accounts(Now(), away) for kind in KINDS)
    return iter(dict.fromkeys(found))


def _turn_in_thread(pk: int) -> bool:
    try:
        return take_turn(pk)
    finally:
        connections.close_all()


def take_turn(pk: int) -> bool:
    """Do some of an account's work. Returns whether the provider answered all of it."""
    account = connected_accounts().filter(pk=pk).first()
    if account is None:
        return False
    now, until = database_now(), time.monotonic() + TURN_SECONDS
    for kind in KINDS:
        for row in kind.due_of(account, now)[:TURN]:
            if time.monotonic() > until:
                return True
            if not _begin(kind, row, now):
                continue
            work, give_up = partial(_do, kind, account, row), partial(_give_up, kind, row)
            if not run_counted(work, kind=kind.name, key=row.pk, give_up=give_up, counts_faults=True):
                return False
    return True


def _begin(kind: WorkKind[Row], row: Row, now: datetime) -> bool:
    """Count a try, and put the row's due time off as if the try would fail."""
    tries = getattr(row, kind.tries) + 1
    setattr(row, kind.tries, tries)
    pause = min(FIRST_WAIT * 2 ** min(tries - 1, 12), LONGEST_WAIT)
    rows: QuerySet[Model] = type(row)._default_manager.filter(pk=row.pk, **{f"{kind.due}__lte": now})
    return bool(rows.update(**{kind.due: now + pause, kind.tries: min(tries, 1_000)}))


def _do(kind: WorkKind[Row], account: ProviderAccount, row: Row) -> bool:
    try:
        with stripe_of(account, ends=kind.ends) as stripe:
            kind.do(stripe, row)
    except ProviderFault as fault:
        if isinstance(row, ProviderEvent) and row.tries >= MOST_EVENT_TRIES:
            end_event(row, failure=fault.code)
        elif isinstance(row, Payout) and row.tries >= MOST_EVENT_TRIES:
            end_listing(row, failure=fault.code)
        else:
            type(row)._default_manager.filter(pk=row.pk).update(**{kind.failure: fault.code})
        return False
    return True


def _give_up(kind: WorkKind[Row], row: Row) -> bool:
    kind.give_up(row)
    return True
