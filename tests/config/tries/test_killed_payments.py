"""Work at payment providers that kills its process: it ends, says so, and holds up no other."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from config.tries.counting import MOST_TRIES
from tests.config.tries.killing import kills_of, set_aside
from tests.factories.finance import an_issued_invoice
from tests.processes.preloaded import Preloaded
from tests.tenants import Tenant
from workspaces.finance.models import Checkout, Invoice, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.providers.stripe import ReceivedPayment
from workspaces.finance.services.provider_facts import record_provider_payment
from workspaces.finance.services.refunds import refund_payment

pytestmark = pytest.mark.django_db(transaction=True)


def a_checkout(account: ProviderAccount) -> Checkout:
    invoice: Invoice = an_issued_invoice(account.workspace)
    return Checkout.objects.create(
        invoice=invoice, account=account, amount=1, currency="USD", expires_at=now(), check_at=now()
    )


def an_event(account: ProviderAccount) -> ProviderEvent:
    kind = "checkout.session.completed"
    return ProviderEvent.objects.create(account=account, event_id="evt_1", kind=kind, object_id="cs_1", due_at=now())


def a_refund(account: ProviderAccount) -> Refund:
    received = ReceivedPayment("pi_1", "succeeded", 10_000, "USD", None, "")
    payment = record_provider_payment(checkout=a_checkout(account), received=received, now=now())
    assert payment
    return refund_payment(payment=payment, amount=1, now=now(), by=SYSTEM)


# An account without a key calls nobody: that is what the process dies of when it is to write it down.
@pytest.mark.parametrize(
    ("make", "due", "set_aside_as"),
    [
        (an_event, "due_at", lambda: set_aside("provider event")),
        (a_refund, "call_at", lambda: set_aside("refund")),
        (a_checkout, "check_at", lambda: set_aside("checkout")),
    ],
)
def test_work_at_a_provider_that_kills_its_worker_is_given_up(
    a: Tenant,
    preloaded: Preloaded,
    make: Callable[[ProviderAccount], ProviderEvent | Refund | Checkout],
    due: str,
    set_aside_as: Callable[[], set[str]],
) -> None:
    row = make(ProviderAccount.objects.create(workspace=a.workspace, endpoint_id="we_1"))
    table = row._meta.db_table

    kills = kills_of(preloaded, "call_payment_provider", at=f'UPDATE "{table}"', value="key_refused")

    row.refresh_from_db()
    assert (kills, row.failure, getattr(row, due)) == (MOST_TRIES, "broke_off", None)
    assert set_aside_as() == {str(row.pk)}


def test_a_look_for_events_that_kills_its_worker_rests_for_a_day(a: Tenant, preloaded: Preloaded) -> None:
    account = ProviderAccount.objects.create(workspace=a.workspace, endpoint_id="we_1", look_at=now())

    kills = kills_of(preloaded, "call_payment_provider", at='UPDATE "finance_provideraccount"', value="key_refused")

    account.refresh_from_db()
    assert (kills, account.look_failure) == (MOST_TRIES, "broke_off")
    assert account.look_at
    assert account.look_at > now() + timedelta(hours=23)
    assert set_aside("look for events") == {str(account.pk)}
