"""Events of the provider: stored as they come, and handled by fetching the object that they name.

An event only says that something happened. What counts is what the provider says of the object when we ask, so events
may be doubled, late, or in any order. An event that comes never is found in the provider's list of events: a look reads
that list, and stores what it finds as if it had come.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from config.db import TimeOrExpression, database_now
from config.retention import ExpiredRows
from workspaces.finance.models import Checkout, Dispute, Payment, ProviderAccount, ProviderEvent
from workspaces.finance.providers.faults import OF_THE_KEY, PASSING, ProviderFault
from workspaces.finance.providers.stripe import LIST_LENGTHS, Stripe
from workspaces.finance.providers.webhooks import EVENT_LIST, OBJECT_LISTS, EventPage, ProviderNotice
from workspaces.finance.services.accounts import connected_accounts
from workspaces.finance.services.checkouts import apply_session
from workspaces.finance.services.connecting import check_endpoint
from workspaces.finance.services.provider_facts import (
    payment_of,
    record_provider_dispute,
    record_provider_payment,
    record_provider_refund,
    uuid_of,
)

# Stripe sends an event again for three days if it is not accepted.
MOST_WAITING: Final = 1_000
KEPT: Final = timedelta(days=90)
RULES: Final = (
    ExpiredRows("finance_providerevent", "received_at", KEPT, order="received_at", only="due_at IS NULL").rule(
        "payment_events"
    ),
)
LOOK_EVERY: Final = timedelta(hours=6)
# While no webhooks come, looks are how we hear of refunds and disputes.
LOOK_WITHOUT_WEBHOOKS: Final = timedelta(minutes=15)
# Events may appear in the list later than their time says, and the clocks of the two sides differ.
OVERLAP: Final = timedelta(days=1)
EVENTS_ARE_KEPT: Final = timedelta(days=30)
ENDED_DISPUTES: Final = ("won", "lost", "warning_closed", "prevented")
# A turn reads this many pages, so that an account with many events does not keep a thread. It begins no page after so
# many seconds: a page may take three calls of ten seconds.
MOST_PAGES: Final = 3
LOOK_SECONDS: Final = 10.0
EVENTS_FIRST: Final = timedelta(minutes=1)
# Work that killed its process is counted from the beginning after a day.
AFTER_CRASHES: Final = timedelta(hours=25)
CHECKOUTS: Final = ("invoice__workspace__agency", "account__workspace__agency")


def account_of_webhook(uuid: UUID | None) -> ProviderAccount | None:
    """Find the connected account whose webhook endpoint has this id in its address."""
    return connected_accounts().filter(uuid=uuid).exclude(endpoint_id="").first() if uuid else None


def store_event(*, account: ProviderAccount, notice: ProviderNotice, now: datetime) -> bool:
    """Store an event to be handled. False if so many wait already that the provider must send it later.

    One that came before, and one about a session that is not ours, are accepted and not stored.
    """
    if not _is_ours(notice):
        return True
    if not _has_room(account, 1):
        return False
    _add_events(account, [notice], now)
    return True


def _has_room(account: ProviderAccount, number: int) -> bool:
    waiting = account.events.filter(due_at__isnull=False).values("pk")[:MOST_WAITING].count()
    return waiting + number <= MOST_WAITING


def _is_ours(notice: ProviderNotice) -> bool:
    return not notice.kind.startswith("checkout.session.") or uuid_of(notice.reference) is not None


def _add_events(account: ProviderAccount, notices: Iterable[ProviderNotice], now: datetime) -> None:
    """Add the events that are not known."""
    ProviderEvent.objects.bulk_create(
        [
            ProviderEvent(
                account=account,
                event_id=notice.event_id,
                kind=notice.kind,
                object_id=notice.object_id,
                received_at=now,
                due_at=now,
            )
            for notice in notices
        ],
        ignore_conflicts=True,
    )


def due_events(now: TimeOrExpression) -> "QuerySet[ProviderEvent]":
    """Return the events to handle, in their order."""
    return ProviderEvent.objects.filter(due_at__lte=now).order_by("due_at")


def handle_event(stripe: Stripe, event: ProviderEvent) -> None:
    """Fetch what an event is about, and record it. Raises `ProviderFault`.

    What does not belong to an invoice is left alone: the account may have other uses.
    """
    try:
        if event.kind.startswith("checkout.session."):
            _handle_session(stripe, event)
        elif event.kind.startswith("refund."):
            _handle_refund(stripe, event)
        else:
            _handle_dispute(stripe, event)
    except ProviderFault as fault:
        if fault.code not in {"not_found", "refused"}:
            raise
        end_event(event, failure=fault.code)
        return
    end_event(event)


def end_event(event: ProviderEvent, *, failure: str = "") -> None:
    now = database_now()
    ProviderEvent.objects.filter(pk=event.pk).update(
        due_at=None, handled_at=None if failure else now, failure=failure[:60]
    )


def _handle_session(stripe: Stripe, event: ProviderEvent) -> None:
    session = stripe.session(event.object_id)
    checkout = _checkout_of(event.account, session.reference)
    if checkout is not None:
        apply_session(stripe, checkout, session, database_now())


def _checkout_of(account: ProviderAccount, reference: str) -> Checkout | None:
    ours = uuid_of(reference)
    if ours is None:
        return None
    return Checkout.objects.filter(account=account, uuid=ours).select_related(*CHECKOUTS).first()


def _handle_refund(stripe: Stripe, event: ProviderEvent) -> None:
    told = stripe.read_refund(event.object_id)
    payment = _payment_of(stripe, event.account, told.payment)
    if payment is not None:
        record_provider_refund(payment=payment, told=told, now=database_now())


def _handle_dispute(stripe: Stripe, event: ProviderEvent) -> None:
    told = stripe.dispute(event.object_id)
    payment = _payment_of(stripe, event.account, told.payment)
    if payment is not None:
        record_provider_dispute(payment=payment, told=told, now=database_now())


def _payment_of(stripe: Stripe, account: ProviderAccount, provider_id: str) -> Payment | None:
    """Find the payment; record it first if the event about it has not come yet. None if it is not of an invoice."""
    known = payment_of(account, provider_id)
    if known is not None or not provider_id:
        return known
    received = stripe.payment(provider_id)
    checkout = _checkout_of(account, received.reference)
    if checkout is None or not received.has_succeeded:
        return None
    return record_provider_payment(checkout=checkout, received=received, now=database_now())


# Looks --------------------------------------------------------------------------------------------


def due_looks(now: TimeOrExpression) -> "QuerySet[ProviderAccount]":
    """Return the accounts whose list of events is to be read, in their order."""
    return ProviderAccount.objects.filter(look_at__lte=now).order_by("look_at")


def look_for_events(stripe: Stripe, account: ProviderAccount) -> None:
    """Read the list of events since the last look, and store those that are not known. Raises `ProviderFault`.

    A look begins with a check of the webhook endpoint. If the list is longer than a turn may take, the next turn goes
    on where this one ended. Without the permission to read events, the look has failed until the next one.
    """
    until = time.monotonic() + LOOK_SECONDS
    if account.look_began_at is None:
        check_endpoint(stripe, account)
        if not _change_look(account, look_began_at=database_now()):
            return
    for _ in range(MOST_PAGES):
        if time.monotonic() > until:
            break
        if not _has_room(account, LIST_LENGTHS[0]):
            _change_look(account, look_at=database_now() + EVENTS_FIRST, look_tries=0, look_failure="")
            return
        page = _read_page(stripe, account)
        if page is None or not _store_page(account, page):
            return
        if not account.look_cursor:
            _end_look(account, looked_until=account.look_began_at)
            return
    _change_look(account, look_at=database_now(), look_tries=0, look_failure="")


def _read_page(stripe: Stripe, account: ProviderAccount) -> EventPage | None:
    """Read the next page, with the place where the look goes on as its cursor. None if the key may not read events.

    If the last look is longer ago than events are kept, the lists of refunds and disputes follow. The look begins again
    if the row of its cursor is gone.
    """
    name, _, after = account.look_cursor.rpartition(":")
    name, since = name or EVENT_LIST, _since(account)
    try:
        page = stripe.listed(name, since=since, after=after)
    except ProviderFault as fault:
        if fault.code == "permission_missing" and name == EVENT_LIST:
            _end_look(account, failure=fault.code)
            return None
        if after and fault.code in {"not_found", "refused"}:
            _change_look(account, look_began_at=None, look_cursor="")
        raise
    began = account.look_began_at or database_now()
    lists = [EVENT_LIST, *OBJECT_LISTS] if since < began - EVENTS_ARE_KEPT else [EVENT_LIST]
    following = lists[lists.index(name) + 1 :][:1] if name in lists else []
    if page.cursor:
        return EventPage(_named(page.notices, began), f"{name}:{page.cursor}")
    notices = page.notices if following or name == EVENT_LIST else (*page.notices, *_open_disputes(account))
    return EventPage(_named(notices, began), f"{following[0]}:" if following else "")


def _since(account: ProviderAccount) -> datetime:
    return (account.looked_until or account.created_at) - OVERLAP


def _named(notices: Iterable[ProviderNotice], began: datetime) -> tuple[ProviderNotice, ...]:
    """Give objects that were found without an event one of this look, so that each look can find them."""
    look = int(began.timestamp())
    return tuple(one if one.event_id else replace(one, event_id=f"{one.object_id}:{look}"[:255]) for one in notices)


def _open_disputes(account: ProviderAccount) -> list[ProviderNotice]:
    """Return the disputes that we know as open. They may have ended since, and lists have them by their beginning."""
    rows = Dispute.objects.filter(payment__account=account).exclude(status__in=ENDED_DISPUTES)
    known = rows.values_list("provider_id", flat=True)[:MOST_WAITING]
    return [ProviderNotice("", OBJECT_LISTS["disputes"], provider_id, "") for provider_id in known]


@transaction.atomic
def _store_page(account: ProviderAccount, page: EventPage) -> bool:
    """Store the events of a page with the place where the look goes on. False if somebody else has gone on.

    Those that were given up because the provider did not answer, or refused the key, are tried again.
    """
    if not _change_look(account, look_cursor=page.cursor):
        return False
    now, ours = database_now(), [notice for notice in page.notices if _is_ours(notice)]
    _add_events(account, ours, now)
    given_up = account.events.filter(due_at=None, handled_at=None, failure__in=PASSING | OF_THE_KEY)
    given_up.filter(event_id__in=[notice.event_id for notice in ours]).update(due_at=now, tries=0)
    return True


def _end_look(account: ProviderAccount, *, failure: str = "", **changes: datetime | None) -> None:
    often = account.endpoint_failure and not failure
    pause = LOOK_WITHOUT_WEBHOOKS if often else LOOK_EVERY
    ended = {"look_began_at": None, "look_cursor": "", "look_tries": 0, "look_failure": failure}
    _change_look(account, look_at=database_now() + pause, **ended, **changes)


def _change_look(account: ProviderAccount, **changes: datetime | str | int | None) -> bool:
    """Change a look that is where we left it. False if it is not, or if the account was disconnected."""
    place = {"look_began_at": account.look_began_at, "look_cursor": account.look_cursor}
    if not connected_accounts().filter(pk=account.pk, **place).update(**changes):
        return False
    for name, value in changes.items():
        setattr(account, name, value)
    return True


def give_look_up(account: ProviderAccount) -> None:
    """Let a look that broke its process five times rest for a day, and begin anew then."""
    begun = {"look_began_at": None, "look_cursor": "", "look_failure": "broke_off"}
    connected_accounts().filter(pk=account.pk).update(look_at=database_now() + AFTER_CRASHES, **begun)
