"""What is owed and paid and the taxes, on the overview, over the API, on the agency's console and beside contacts."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import at_the_console, flashes, text
from tests.factories import ContactFactory
from tests.factories.finance import TaxRateFactory, a_line, an_issued_invoice
from tests.tenants import Tenant
from tests.workspaces.finance.dashboard.dated import an_invoice_of, in_berlin
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client, member_client
from workspaces.finance.models import TaxRate
from workspaces.finance.services.invoices import credit_invoice, void_invoice
from workspaces.finance.services.payments import record_payment
from workspaces.finance.services.refunds import refund_payment
from workspaces.finance.services.settings import change_finance_settings

a, b = furnished.a_with_customer, furnished.b_with_customer
__all__ = ["in_berlin"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def months(found: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Give the months in which something was paid or went back."""
    for month in found["months"]:
        if month["paid"] or month["returned"]:
            yield month["month"], month["paid"], month["returned"]


def test_the_summary_says_what_is_owed_paid_and_taxed(a: Tenant, b: Tenant) -> None:
    rate = TaxRateFactory.create(workspace=a.workspace, name="VAT", percent=Decimal(19))
    reduced = TaxRateFactory.create(workspace=a.workspace, name="VAT 7", percent=Decimal(7))
    this_month = now().astimezone(ZoneInfo("Europe/Berlin")).replace(day=1)
    last_month = (this_month - timedelta(days=1)).replace(day=1)
    # In Berlin this is in the last month, and in UTC in the one before.
    paid_in = datetime(last_month.year, last_month.month, 1, tzinfo=UTC) - timedelta(minutes=30)
    last, current = f"{last_month:%Y-%m}", f"{this_month:%Y-%m}"
    late = an_invoice_of(a.workspace, paid_in, due_in=timedelta(days=1), lines=[a_line("100", rate=rate)])
    mixed = an_issued_invoice(a.workspace, lines=[a_line("50", rate=rate), a_line("20", rate=reduced), a_line("5")])
    an_issued_invoice(b.workspace, lines=[a_line("900")])
    payment = record_payment(
        invoice=late, amount=1_900, method="cash", received_at=paid_in + timedelta(hours=1), now=now(), by=SYSTEM
    )
    refund_payment(payment=payment, amount=400, now=now(), by=SYSTEM)
    credit_invoice(invoice=mixed, lines=[a_line("10", rate=rate)], now=now(), by=SYSTEM)

    answer = a.workspace_api.get("/finance/summary")
    assert answer.status_code == 200
    found = answer.json()["data"]
    assert found["timezone"] == "Europe/Berlin"
    [euro] = found["currencies"]
    assert (euro["currency"], euro["owed"], euro["overdue"]) == ("EUR", 104.0 + 74.0, 104.0)
    assert (euro["open_invoices"], euro["overdue_invoices"]) == (2, 1)
    assert len(euro["months"]) == 12
    paid = {month: (paid, returned) for month, paid, returned in months(euro)}
    assert paid[last][0] == 19.0
    assert sum(returned for _, returned in paid.values()) == 4.0
    taxes = [(one["month"], one["name"], one["percent"], one["net"], one["tax"]) for one in euro["taxes"]]
    assert [one for one in taxes if one[0] != current] == [(last, "VAT", 19.0, 100.0, 19.0)]
    assert [one for one in taxes if one[0] == current] == [
        (current, "VAT", 19.0, 40.0, 7.6),
        (current, "VAT 7", 7.0, 20.0, 1.4),
        (current, "", 0.0, 5.0, 0.0),
    ]


def test_a_void_invoice_has_no_tax_and_is_not_owed(a: Tenant, owner: Client) -> None:
    rate = TaxRateFactory.create(workspace=a.workspace, name="VAT", percent=Decimal(19))
    void_invoice(invoice=an_issued_invoice(a.workspace, lines=[a_line("80", rate=rate)]), now=now(), by=SYSTEM)
    [euro] = a.workspace_api.get("/finance/summary").json()["data"]["currencies"]
    assert (euro["owed"], euro["overdue"], euro["open_invoices"]) == (0.0, 0.0, 0)
    assert [(one["net"], one["tax"]) for one in euro["taxes"]] == [(0.0, 0.0)]
    assert "€0.00" in text(owner.get("/app/finance/taxes"))


def test_the_overview_shows_figures_a_chart_and_what_is_overdue(a: Tenant, owner: Client) -> None:
    assert "Nothing is owed and nothing was paid yet" in text(owner.get("/app/finance"))
    late = an_invoice_of(a.workspace, now() - timedelta(days=30), due_in=timedelta(days=1), lines=[a_line("1200")])
    paid = an_issued_invoice(a.workspace, lines=[a_line("30")])
    payment = record_payment(invoice=paid, amount=3_000, method="cash", now=now(), by=SYSTEM)
    refund_payment(payment=payment, amount=500, now=now(), by=SYSTEM)
    answer = owner.get("/app/finance")
    page = text(answer)
    for shown in ("Owed €1,200.00 1 invoice", "Overdue €1,200.00 1 invoice", "Paid this month €25.00 €5.00 returned"):
        assert shown in page
    assert "Overdue for longest" in page
    assert f"{late.number}" in page
    assert answer.content.decode().count("<path ") == 2


def test_the_tax_report_is_of_one_year(a: Tenant, owner: Client) -> None:
    rate = TaxRateFactory.create(workspace=a.workspace, name="VAT", percent=Decimal(19))
    # 23:30 in UTC is the next year in Berlin.
    an_invoice_of(a.workspace, datetime(2025, 12, 31, 23, 30, tzinfo=UTC), lines=[a_line("100", rate=rate)])
    an_invoice_of(a.workspace, datetime(2025, 12, 31, 22, 30, tzinfo=UTC), lines=[a_line("7", rate=rate)])
    of_2026, of_2025 = (text(owner.get(f"/app/finance/taxes?year={year}")) for year in (2026, 2025))
    assert "January 2026" in of_2026
    assert "€19.00" in of_2026
    assert "€1.33" not in of_2026
    assert "December 2025" in of_2025
    assert "€1.33" in of_2025
    assert "Nothing was issued in this year" in text(owner.get("/app/finance/taxes?year=2001"))
    for odd in ("x", "0000", "99999", "٢٠٢٥", ""):
        assert owner.get(f"/app/finance/taxes?year={odd}").status_code == 200


def test_the_agency_sees_totals_only_of_those_who_share_them(a: Tenant, b: Tenant) -> None:
    invoice = an_issued_invoice(a.workspace, lines=[a_line("120")])
    record_payment(invoice=invoice, amount=2_000, method="cash", now=now(), by=SYSTEM)
    record_payment(
        invoice=invoice, amount=700, method="cash", received_at=now() - timedelta(days=31), now=now(), by=SYSTEM
    )
    agency, other = at_the_console(a.agency, "viewer"), at_the_console(b.agency)
    assert "No sub-account shares its totals" in text(agency.get("/console/finance"))
    change_finance_settings(workspace=a.workspace, now=now(), by=SYSTEM, shares_totals=True)
    shown = text(agency.get("/console/finance"))
    assert f"{a.workspace.name} €93.00 €0.00 €20.00" in shown
    assert str(invoice.number) not in shown
    assert "No sub-account matches" in text(agency.get("/console/finance?search=nobody"))
    assert agency.get("/console/finance?search=%00").status_code == 200
    assert "No sub-account shares its totals" in text(other.get("/console/finance"))


def test_a_contacts_page_shows_its_invoices_and_what_it_owes(a: Tenant, owner: Client) -> None:
    ada = ContactFactory.create(workspace=a.workspace, name="Ada")
    assert "No invoices yet" in text(owner.get(f"/app/contacts/{ada.uuid}"))
    for _ in range(6):
        an_issued_invoice(a.workspace, contact=ada, lines=[a_line("10")])
    _, _, panel = text(owner.get(f"/app/contacts/{ada.uuid}")).partition("Invoices €60.00 owed")
    assert "INV-0006" in panel
    assert "INV-0001" not in panel
    assert "All invoices of this contact" in panel


def test_settings_are_saved_and_numbers_are_fixed_once_given(a: Tenant, owner: Client) -> None:
    page = "/app/finance/settings"
    sent = {"business_name": "Salon GmbH", "vat_id": "DE123", "payment_days": "30", "shares_totals": "on"}
    numbers = {"invoice_prefix": "R-", "invoice_number": "41", "credit_note_prefix": "G-", "credit_note_number": "7"}
    assert flashes(owner.post(page, {**sent, **numbers}, follow=True)) == ["The settings were saved."]
    assert an_issued_invoice(a.workspace).number == "R-0041"
    shown = owner.get(page).content.decode()
    assert 'value="Salon GmbH"' in shown
    assert "First number of invoices" not in shown
    assert "First number of credit notes" in shown
    assert owner.post(page, {**sent, "payment_days": "366"}).status_code == 422
    assert "three to nine digits" in text(owner.post("/app/finance/bookkeeping", {**BOOKS, "bank": "12"}))
    assert flashes(owner.post("/app/finance/bookkeeping", BOOKS, follow=True)) == ["The settings were saved."]
    assert 'value="1201"' in owner.get("/app/finance/bookkeeping").content.decode()


BOOKS = {
    "consultant_number": "29098",
    "client_number": "55003",
    "year_begins_in": "1",
    "account_length": "4",
    "receivables": "10001",
    "revenue_19": "8400",
    "revenue_7": "8300",
    "revenue_other": "8200",
    "revenue_reverse_charge": "8337",
    "cash": "1000",
    "bank": "1201",
    "provider": "1360",
    "fees": "4970",
}


def test_tax_rates_are_added_edited_and_archived(a: Tenant, b: Tenant, owner: Client) -> None:
    owner.post("/app/tax-rates/new", {"name": "VAT", "percent": "19"})
    rate = TaxRate.objects.get(workspace=a.workspace)
    assert "Another tax rate has this name." in text(owner.post("/app/tax-rates/new", {"name": "vat", "percent": "7"}))
    page = f"/app/tax-rates/{rate.uuid}"
    owner.post(page, {"name": "VAT", "percent": "7.5", "inclusive": "on"})
    assert "VAT (7.5%), in the price" in text(owner.get(page))
    an_issued_invoice(a.workspace, lines=[a_line("10", rate=TaxRate.objects.get(pk=rate.pk))])
    assert "only its name can change" in text(owner.post(page, {"name": "VAT", "percent": "8"}))
    assert flashes(owner.post(f"{page}/archive", follow=True)) == ["VAT was archived."]
    assert "Archived" in text(owner.get("/app/tax-rates"))
    assert "VAT" not in text(owner.get("/app/invoices/new"))
    theirs = TaxRateFactory.create(workspace=b.workspace)
    assert owner.get(f"/app/tax-rates/{theirs.uuid}").status_code == 404


def test_reports_cost_the_same_however_much_they_hold(a: Tenant) -> None:
    change_finance_settings(workspace=a.workspace, now=now(), by=SYSTEM, shares_totals=True)
    agency, owner, member = at_the_console(a.agency), dashboard_client(a.workspace), member_client(a.workspace)

    def cost() -> list[int]:
        found = []
        for browser, page in ((owner, "/app/finance"), (member, "/app/finance/taxes"), (agency, "/console/finance")):
            with CaptureQueriesContext(connection) as queries:
                assert browser.get(page).status_code == 200
            found.append(sum("finance_" in query["sql"] for query in queries))
        with CaptureQueriesContext(connection) as queries:
            a.workspace_api.get("/finance/summary")
        return [*found, sum('"finance_' in query["sql"] for query in queries)]

    def more() -> None:
        invoice = an_invoice_of(a.workspace, now() - timedelta(days=9), due_in=timedelta(days=1))
        payment = record_payment(invoice=invoice, amount=50, method="cash", now=now(), by=SYSTEM)
        refund_payment(payment=payment, amount=5, now=now(), by=SYSTEM)

    more()
    few = cost()
    more()
    assert cost() == few == [5, 1, 4, 4]
