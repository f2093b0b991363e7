"""Payouts on the dashboard's pages: their list, one with what it consists of, its file, and what is expected."""

import csv
from datetime import date, timedelta
from io import StringIO

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ContactFactory
from tests.factories.finance import a_line, a_payment, a_payout, an_issued_invoice
from tests.tenants import Tenant
from tests.workspaces.finance.dashboard.dated import in_berlin
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client
from workspaces.finance.models import Payment, ProviderAccount
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer
__all__ = ["in_berlin"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def a_card_payment(workspace: Workspace) -> Payment:
    ada = ContactFactory.create(workspace=workspace, name="=Ada")
    return a_payment(an_issued_invoice(workspace, contact=ada, lines=[a_line("119")]), 11_900)


def test_the_list_shows_and_filters_payouts(a: Tenant, b: Tenant, owner: Client) -> None:
    empty = text(owner.get("/app/payouts"))
    assert "They appear here once Stripe is connected" in empty
    a_payout(b.workspace, amount=77_700, currency="EUR")
    a_payout(a.workspace, currency="EUR", arrives_on=date(2026, 3, 2), payment=a_card_payment(a.workspace))
    a_payout(a.workspace, "failed", amount=-5_000, currency="KWD", arrives_on=date(2026, 3, 9), automatic=False)
    page = text(owner.get("/app/payouts"))
    assert "9 Mar 2026 Made by hand Failed — -KWD5.000 2 Mar 2026 Paid €2.03 €116.97" in page
    assert "€777.00" not in page
    for query, shown in (("status=failed", "KWD"), ("to=2026-03-08", "€116.97"), ("from=2026-03-03", "KWD")):
        page = text(owner.get(f"/app/payouts?{query}"))
        assert shown in page, query
        assert ("KWD" in page) != ("€116.97" in page), query
    for query in ("from=2026-04-01", "period=next-7-days"):
        assert "No payout matches" in text(owner.get(f"/app/payouts?{query}"))
    assert owner.get("/app/payouts?status=x&from=%00&to=0001-01-01").status_code == 200


def test_a_payout_says_what_it_consists_of_and_why_it_failed(a: Tenant, b: Tenant, owner: Client) -> None:
    payment = a_card_payment(a.workspace)
    payout = a_payout(a.workspace, "failed", currency="EUR", arrives_on=date(2026, 3, 2), payment=payment)
    answer = owner.get(f"/app/payouts/{payout.uuid}")
    page = text(answer)
    assert "The bank account has been closed. Check your bank account in Stripe." in page
    assert f"{payment.invoice.number} €119.00 €2.03 €116.97" in page
    assert f'href="/app/invoices/{payment.invoice.uuid}"' in answer.content.decode()
    file = owner.get(f"/app/payouts/{payout.uuid}/transactions.csv")
    assert file["Content-Disposition"] == 'attachment; filename="payout_2026-03-02.csv"'
    content = b"".join(file.streaming_content).decode()  # type: ignore[attr-defined]  # a streaming response has it
    [row] = csv.DictReader(StringIO(content))
    assert (row["invoice"], row["customer"]) == (payment.invoice.number, "'=Ada")
    assert (row["amount"], row["fee"], row["net"], row["currency"]) == ("119.00", "2.03", "116.97", "EUR")
    assert ActivityEntry.objects.get(action="finance.exported").details["file"] == "payout"
    viewer = agency_client(a.workspace, "viewer")
    assert viewer.get(f"/app/payouts/{payout.uuid}/transactions.csv").status_code == 403
    assert "Download as CSV" not in text(viewer.get(f"/app/payouts/{payout.uuid}"))
    other = dashboard_client(b.workspace)
    for path in (f"/app/payouts/{payout.uuid}", f"/app/payouts/{payout.uuid}/transactions.csv"):
        assert other.get(path).status_code == 404, path
    by_hand = a_payout(a.workspace, automatic=False)
    assert "if it makes the payout by itself" in text(owner.get(f"/app/payouts/{by_hand.uuid}"))
    assert "usually says within a day" in text(owner.get(f"/app/payouts/{a_payout(a.workspace).uuid}"))


def test_a_key_without_the_right_is_explained_where_payouts_are_missed(a: Tenant, owner: Client) -> None:
    account = ProviderAccount.objects.create(workspace=a.workspace, endpoint_id="we_1")
    for page in ("/app/payouts", "/app/payment-account"):
        assert "set the permission Payouts to Read" not in text(owner.get(page)), page
    ProviderAccount.objects.filter(pk=account.pk).update(payouts_refused_at=now())
    for page in ("/app/payouts", "/app/payment-account"):
        assert "set the permission Payouts to Read" in text(owner.get(page)), page
    assert "Payouts: Read" in text(owner.get("/app/payment-account"))


def test_the_overview_shows_the_next_payouts(a: Tenant, b: Tenant, owner: Client) -> None:
    assert "Expected payouts" not in text(owner.get("/app/finance"))
    today = now().date()
    for status, days in (("in_transit", 1), ("pending", 4), ("pending", -20), ("paid", 0), ("canceled", 2)):
        a_payout(a.workspace, status, amount=100 * (days + 30), currency="EUR", arrives_on=today + timedelta(days=days))
    a_payout(b.workspace, "pending", amount=77_700, currency="EUR", arrives_on=today)
    page = text(owner.get("/app/finance"))
    assert "€31.00" in page
    assert page.index("€31.00") < page.index("€34.00")
    for amount in ("€10.00", "€30.00", "€32.00", "€777.00"):
        assert amount not in page, amount


def test_the_pages_cost_the_same_however_much_they_hold(a: Tenant, owner: Client) -> None:
    payout = a_payout(a.workspace, payment=a_card_payment(a.workspace))

    def cost() -> list[int]:
        found = []
        for path in ("/app/payouts", f"/app/payouts/{payout.uuid}", f"/app/payouts/{payout.uuid}/transactions.csv"):
            with CaptureQueriesContext(connection) as queries:
                answer = owner.get(path)
                assert answer.status_code == 200
                if answer.streaming:
                    list(answer.streaming_content)  # type: ignore[attr-defined]  # a streaming response has it
            found.append(sum('"finance_' in query["sql"] for query in queries))
        return found

    few = cost()
    for number in range(3):
        payment = a_card_payment(a.workspace)
        values = {"kind": "payment", "provider_kind": "charge", "amount": 1, "fee": 0, "created_at": now()}
        payout.transactions.create(provider_id=f"txn_more_{number}", payment=payment, **values)
        a_payout(a.workspace)
    assert cost() == few == [3, 3, 3]
