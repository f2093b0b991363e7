"""Invoices, payments and taxes as CSV files, and the postings for DATEV."""

import csv
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ContactFactory
from tests.factories.finance import TaxRateFactory, a_line
from tests.tenants import Tenant
from tests.workspaces.finance.dashboard.dated import an_invoice_of, in_berlin
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client
from workspaces.finance.models import Payment
from workspaces.finance.services import exports
from workspaces.finance.services.bookkeeping import change_bookkeeping
from workspaces.finance.services.invoices import credit_invoice
from workspaces.finance.services.payments import record_payment
from workspaces.finance.services.provider_facts import lock_payment
from workspaces.finance.services.received_payments import recount_payment
from workspaces.finance.services.refunds import refund_payment
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer
__all__ = ["in_berlin"]

pytestmark = pytest.mark.django_db

BERLIN = ZoneInfo("Europe/Berlin")
# In Berlin it is the first of January 2026.
NEW_YEAR = datetime(2025, 12, 31, 23, 30, tzinfo=UTC)


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def fetched(browser: Client, file: str, first: str = "2026-01-01", last: str = "2026-06-30") -> bytes:
    answer = browser.get(f"/app/finance/exports?file={file}&first={first}&last={last}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment; ")
    return b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a streaming response has it


def rows_of(browser: Client, file: str, **days: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(fetched(browser, file, **days).decode())))


def some_invoices(workspace: Workspace) -> None:
    """An invoice with two rates, partly credited, paid, refunded; a reverse charge; and one of the year before."""
    vat = TaxRateFactory.create(workspace=workspace, name="VAT", percent=Decimal(19))
    reduced = TaxRateFactory.create(workspace=workspace, name="Reduced", percent=Decimal(7), inclusive=True)
    ada = ContactFactory.create(workspace=workspace, name='=HYPERLINK("x";"Ünal") 中')
    an_invoice_of(workspace, NEW_YEAR - timedelta(hours=1), lines=[a_line("3")])
    lines = [a_line("100", rate=vat), a_line("10.70", rate=reduced)]
    first = an_invoice_of(workspace, NEW_YEAR, contact=ada, lines=lines, due_in=timedelta(days=14))
    later = NEW_YEAR + timedelta(days=40)
    paid = record_payment(invoice=first, amount=10_000, method="cash", received_at=later, now=now(), by=SYSTEM)
    refund_payment(payment=paid, amount=1_500, now=later, by=SYSTEM)
    credit_invoice(invoice=first, lines=[a_line("10", rate=vat)], now=later, by=SYSTEM)
    bob = ContactFactory.create(workspace=workspace, name="Bob", attributes={"vat_id": "AT U123"})
    an_invoice_of(workspace, later, contact=bob, lines=[a_line("20")], reverse_charge=True)


def test_invoices_payments_and_taxes_are_rows(a: Tenant, b: Tenant, owner: Client) -> None:
    some_invoices(a.workspace)
    an_invoice_of(b.workspace, NEW_YEAR)
    invoices = rows_of(owner, "invoices")
    assert [row["number"] for row in invoices] == ["INV-0002", "CN-0001", "INV-0003"]
    first, note, _ = invoices
    assert first == {
        "number": "INV-0002",
        "kind": "invoice",
        "credits": "",
        "status": "open",
        "issued_on": "2026-01-01",
        "supplied_on": "2026-01-01",
        "due_on": "2026-01-15",
        "customer": '\'=HYPERLINK("x";"Ünal") 中',
        "customer_vat_id": "",
        "currency": "EUR",
        "net": "110.00",
        "tax": "19.70",
        "total": "129.70",
        "paid": "85.00",
        "credited": "11.90",
        "owed": "32.80",
        "paid_on": "",
    }
    assert (note["credits"], note["total"], note["owed"]) == ("INV-0002", "11.90", "0.00")
    [payment] = rows_of(owner, "payments")
    assert payment["received_at"] == "2026-02-10T00:30:00+01:00"
    assert (payment["invoice"], payment["amount"], payment["refunded"]) == ("INV-0002", "100.00", "15.00")
    columns = ("month", "rate", "reverse_charge", "base", "tax")
    assert [tuple(row[column] for column in columns) for row in rows_of(owner, "taxes")] == [
        ("2026-02", "VAT", "", "-10.00", "-1.90"),
        ("2026-02", "", "yes", "20.00", "0.00"),
        ("2026-01", "VAT", "", "100.00", "19.00"),
        ("2026-01", "Reduced", "", "10.00", "0.70"),
    ]


def test_the_datev_file_holds_every_posting(a: Tenant, owner: Client) -> None:
    some_invoices(a.workspace)
    contested = {"amount": 8_500, "withdrawn": True, "changed_at": NEW_YEAR + timedelta(days=50)}
    payment = lock_payment(Payment.objects.get(workspace=a.workspace))
    payment.disputes.create(provider_id="dp_1", status="lost", **contested)
    recount_payment(payment, now=now())
    change_bookkeeping(workspace=a.workspace, by=SYSTEM, consultant_number=29098, client_number=55003, cash="1001")
    content = fetched(owner, "datev")
    lines = content.decode("cp1252").split("\r\n")
    assert lines.pop() == ""
    header, names, *postings = (next(csv.reader([line], delimiter=";")) for line in lines)
    assert len(header) == 31
    assert header[:5] == ["EXTF", "700", "21", "Buchungsstapel", "13"]
    assert len(header[5]) == 17
    assert header[10:17] == ["29098", "55003", "20260101", "4", "20260101", "20260630", a.workspace.name[:30]]
    assert header[18:22] == ["1", "0", "0", "EUR"]
    assert lines[0].startswith('"EXTF";700;21;"Buchungsstapel";13;')
    assert len(names) == 125
    assert {len(posting) for posting in postings} == {125}
    found = [dict(zip(names, posting, strict=True)) for posting in postings]
    columns = (
        "Umsatz (ohne Soll/Haben-Kz)",
        "Soll/Haben-Kennzeichen",
        "WKZ Umsatz",
        "Konto",
        "Gegenkonto (ohne BU-Schlüssel)",
        "Belegdatum",
        "Belegfeld 1",
        "EU-Land u. UStID (Bestimmung)",
    )
    assert [tuple(row[column] for column in columns) for row in found] == [
        ("10,70", "S", "EUR", "10000", "8300", "0101", "INV-0002", ""),
        ("119,00", "S", "EUR", "10000", "8400", "0101", "INV-0002", ""),
        ("11,90", "H", "EUR", "10000", "8400", "1002", "CN-0001", ""),
        ("20,00", "S", "EUR", "10000", "8337", "1002", "INV-0003", "ATU123"),
        ("100,00", "S", "EUR", "1001", "10000", "1002", "INV-0002", ""),
        ("15,00", "H", "EUR", "1001", "10000", "1002", "INV-0002", ""),
        ("85,00", "H", "EUR", "1001", "10000", "2002", "INV-0002", ""),
    ]
    assert found[0]["Buchungstext"] == 'HYPERLINK("x";"Ünal") ?'
    assert found[0]["Fälligkeit"] == "15012026"
    assert lines[2].startswith('10,70;"S";"EUR";;;;10000;8300;;0101;"INV-0002";')


def test_a_file_is_bounded_and_says_why_it_is_refused(a: Tenant, owner: Client) -> None:
    page = "/app/finance/exports"
    for query, reason in (
        ("file=invoices&first=2026-02-01&last=2026-01-01", "The last day is before the first day."),
        ("file=invoices&first=2024-01-01&last=2025-01-01", "A file holds at most 366 days."),
        ("file=datev&first=2025-12-31&last=2026-01-01", "days of one financial year"),
        ("file=datev&first=0001-01-01&last=2026-01-01", "Enter a date after 1999."),
        ("file=x&first=2026-01-01&last=2026-01-01", "Select a valid choice"),
        ("file=taxes&first=x", "Enter a valid date"),
    ):
        answer = owner.get(f"{page}?{query}")
        assert answer.status_code == 422, query
        assert reason in text(answer), query
    change_bookkeeping(workspace=a.workspace, by=SYSTEM, year_begins_in=7)
    assert fetched(owner, "datev", "2025-12-31", "2026-01-01").startswith(b'"EXTF"')
    assert owner.get(f"{page}?file=datev&first=2026-06-30&last=2026-07-01").status_code == 422
    viewer = agency_client(a.workspace, "viewer")
    assert viewer.get(f"{page}?file=invoices&first=2026-01-01&last=2026-01-01").status_code == 403


def test_who_exported_what_is_in_the_activity_log(a: Tenant, owner: Client) -> None:
    fetched(owner, "payments")
    entry = ActivityEntry.objects.get(action="finance.exported", workspace_uuid=a.workspace.uuid)
    assert entry.details == {"file": "payments", "first": "2026-01-01", "last": "2026-06-30"}


def test_a_file_is_read_in_pieces_that_lose_no_row(a: Tenant, owner: Client) -> None:
    """Rows of one moment lie on both sides of a piece's end."""
    for _ in range(5):
        an_invoice_of(a.workspace, NEW_YEAR)
    days = exports.Days(NEW_YEAR.date(), (NEW_YEAR + timedelta(days=2)).date(), BERLIN, BERLIN)
    rows = exports.issued_invoices(a.workspace, days)
    with CaptureQueriesContext(connection) as queries:
        found = [one.number for batch in exports.batches(rows, "issued_at", size=2) for one in batch]
    assert found == [f"INV-000{number}" for number in range(1, 6)]
    assert len(queries) == 4
    with pytest.raises(exports.TooManyRows):
        exports.check_size(rows, rows, most=9)
    exports.check_size(rows, rows, most=10)
