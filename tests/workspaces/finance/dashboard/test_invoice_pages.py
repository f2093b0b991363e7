"""Invoices on the dashboard's pages: drafts, the steps after them, and the list."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ContactFactory, ProductFactory
from tests.factories.finance import InvoiceFactory, TaxRateFactory, a_line, an_issued_invoice
from tests.tenants import Tenant
from tests.workspaces.finance.dashboard.dated import an_invoice_of, in_berlin
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.finance.models import Invoice, Payment, TaxRate
from workspaces.finance.services.payments import record_payment

a, b = furnished.a_with_customer, furnished.b_with_customer

__all__ = ["in_berlin"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def test_a_draft_is_made_line_by_line_without_script(a: Tenant, owner: Client) -> None:
    ada = ContactFactory.create(workspace=a.workspace, name="Ada", phone="+4930123456")
    rate = TaxRateFactory.create(workspace=a.workspace, name="VAT", percent=Decimal(19))
    soap = ProductFactory.create(workspace=a.workspace, name="Soap", price=Decimal("2.50"))
    found = owner.post("/app/invoices/new", {"do": "find", "find_contact": "ada", "line-0-description": "Haircut"})
    assert "Ada · +4930123456" in text(found)
    assert 'value="Haircut"' in found.content.decode()
    typed = {
        "contact": str(ada.uuid),
        "line-0-description": "Haircut",
        "line-0-quantity": "2",
        "line-0-unit_price": "10.00",
        "line-0-tax_rate": str(rate.uuid),
    }
    more = owner.post("/app/invoices/new", {**typed, "do": "add"})
    assert "Line 2" in text(more)
    assert "€23.80" in text(more)
    with_product = owner.post("/app/invoices/new", {**typed, "do": f"product-{soap.uuid}"})
    assert 'value="Soap"' in with_product.content.decode()
    assert "€26.30" in text(with_product)
    fewer = owner.post("/app/invoices/new", {**typed, "line-1-description": "Wash", "do": "remove-0"})
    assert 'value="Wash"' in fewer.content.decode()
    assert "Haircut" not in text(fewer)
    assert not Invoice.objects.of(a.workspace).exists()
    bought = {"line-1-description": "Soap", "line-1-quantity": "1", "line-1-unit_price": "2.50"}
    sent = {**typed, **bought, "line-1-product": str(soap.uuid), "due_on": "2027-01-31", "note": "Thank you"}
    assert flashes(owner.post("/app/invoices/new", sent, follow=True)) == [
        "The draft was saved. Check it, then issue it."
    ]
    draft = Invoice.objects.of(a.workspace).get()
    assert (draft.net, draft.tax, draft.total, draft.contact) == (2250, 380, 2630, ada)
    assert draft.due_at is not None
    assert draft.due_at.isoformat() == "2027-01-31T22:59:59+00:00"
    assert [line.product for line in draft.lines.order_by("position")] == [None, soap]
    edited = owner.get(f"/app/invoices/{draft.uuid}/edit").content.decode()
    for shown in ('value="Haircut"', 'value="10.00"', 'value="2027-01-31"', "Thank you"):
        assert shown in edited
    owner.post(f"/app/invoices/{draft.uuid}/edit", {**typed, "line-0-quantity": "3"})
    draft = Invoice.objects.of(a.workspace).get()
    assert (draft.total, draft.note, draft.due_at) == (3570, "", None)


def test_amounts_are_typed_as_in_the_readers_language(a: Tenant, owner: Client) -> None:
    owner.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    ada = ContactFactory.create(workspace=a.workspace)
    soap = ProductFactory.create(workspace=a.workspace, name="Soap", price=Decimal("2.50"))
    owner.post("/app/tax-rates/new", {"name": "USt", "percent": "7,5"})
    rate = TaxRate.objects.get(workspace=a.workspace)
    assert rate.percent == Decimal("7.5")
    assert 'name="percent" value="7,5"' in owner.get(f"/app/tax-rates/{rate.uuid}").content.decode()
    line = {"line-0-description": "Work", "line-0-quantity": "1,125", "line-0-unit_price": "8,40"}
    more = owner.post("/app/invoices/new", {**line, "do": f"product-{soap.uuid}", "find_product": "soap"})
    page = " ".join(text(more).split())
    for shown in ("9,45 €", "11,95 €", "Soap 2,50 €"):
        assert shown in page
    assert 'name="line-1-unit_price" value="2,50"' in more.content.decode()
    refused = owner.post("/app/invoices/new", {"contact": str(ada.uuid), **line, "line-0-quantity": "0,0001"})
    assert "0,001" in refused.context["form"].errors["line-0-quantity"][0]
    owner.post("/app/invoices/new", {"contact": str(ada.uuid), **line})
    draft = Invoice.objects.of(a.workspace).get()
    assert draft.total == 945
    edited = owner.get(f"/app/invoices/{draft.uuid}/edit").content.decode()
    for shown in ('quantity" value="1,125"', 'unit_price" value="8,40"'):
        assert shown in edited
    path = f"/app/invoices/{draft.uuid}"
    owner.post(f"{path}/issue")
    assert 'name="amount" value="9,45"' in owner.get(f"{path}/payments/new").content.decode()
    owner.post(f"{path}/payments/new", {"amount": "4,20", "method": "cash", "received_on": "2026-01-02"})
    assert Payment.objects.get(workspace=a.workspace).amount == 420
    assert 'name="line-1" value="1,125"' in owner.get(f"{path}/credit").content.decode()
    assert "gleich 1,125 sein" in text(owner.post(f"{path}/credit", {"line-1": "1,5"}))
    owner.post(f"{path}/credit", {"line-1": "0,125"})
    assert Invoice.objects.of(a.workspace).get(kind="credit_note").total == 105


def test_a_draft_that_cannot_be_saved_says_why(a: Tenant, b: Tenant, owner: Client) -> None:
    ada = ContactFactory.create(workspace=a.workspace)
    foreign = ContactFactory.create(workspace=b.workspace)
    soap = ProductFactory.create(workspace=b.workspace, name="Their soap")
    line = {"line-0-description": "Work", "line-0-quantity": "1", "line-0-unit_price": "10"}
    for typed, reason in (
        ({"contact": str(ada.uuid)}, "Add a line with a description and a price."),
        ({"contact": str(ada.uuid), **line, "line-0-quantity": "0"}, "greater than or equal to 0.001"),
        ({"contact": str(ada.uuid), **line, "line-0-unit_price": "1.001"}, "no more than 2 decimal places"),
        ({"contact": str(ada.uuid), **line, "line-0-description": ""}, "Description: This field is required."),
        ({"contact": str(foreign.uuid), **line}, "Select a valid choice"),
        ({"contact": "\0", **line}, "Select a valid choice"),
        (line, "Find and choose the contact who gets the invoice"),
        ({"contact": str(ada.uuid), **line, "due_on": "0001-01-01"}, "ten years from now"),
    ):
        answer = owner.post("/app/invoices/new", typed)
        assert answer.status_code == 422
        assert reason in text(answer)
    odd = {"do": f"product-{soap.uuid}", "find_contact": "\0", "find_product": "their", "line-0-unit_price": "9e99"}
    for do in ("add", "remove-9", "remove-x", "product-x", f"product-{soap.uuid}"):
        shown = owner.post("/app/invoices/new", {**odd, "line-0-description": "", "do": do})
        assert shown.status_code == 200
        assert "Their soap" not in text(shown)
    assert not Invoice.objects.of(a.workspace).exists()


def test_a_draft_has_at_most_200_lines(a: Tenant, owner: Client) -> None:
    ada = ContactFactory.create(workspace=a.workspace)
    lines = {f"line-{n}-description": f"Line {n}" for n in range(201)}
    shown = owner.post("/app/invoices/new", {"contact": str(ada.uuid), **lines, "do": "add"})
    assert "Line 199" in shown.content.decode()
    assert "Line 200</legend>" in shown.content.decode()
    assert "line-200-" not in shown.content.decode()
    assert "An invoice has at most 200 lines." in text(shown)


def test_an_invoice_is_issued_paid_refunded_and_credited(a: Tenant, owner: Client) -> None:
    ada = ContactFactory.create(workspace=a.workspace, name="Ada", email="ada@example.com")
    rate = TaxRateFactory.create(workspace=a.workspace, name="VAT", percent=Decimal(19))
    invoice = InvoiceFactory.create(workspace=a.workspace, contact=ada, lines=[a_line("100", "2", rate)])
    path = f"/app/invoices/{invoice.uuid}"
    assert owner.get(f"{path}/pdf")["Location"] == path
    assert "For Ada: €238.00. The invoice gets the next number" in text(owner.get(f"{path}/issue"))
    issued = owner.post(f"{path}/issue", follow=True)
    assert flashes(issued) == ["INV-0001 was issued."]
    invoice.refresh_from_db()
    assert str(invoice.pay_url) in text(issued)
    for refused in ("edit", "delete", "issue"):
        assert "stays as it is" in text(owner.post(f"{path}/{refused}", {"contact": str(ada.uuid)}, follow=True))
    assert owner.get(f"{path}/pdf").content.startswith(b"%PDF")
    assert "ada@example.com gets an e-mail" in text(owner.get(f"{path}/send"))
    assert flashes(owner.post(f"{path}/send", follow=True)) == ["The e-mail is on its way."]
    pay = {"amount": "38.00", "method": "cash", "received_on": "2026-01-02", "note": "At the counter"}
    assert "Amount in EUR: " in text(owner.post(f"{path}/payments/new", {**pay, "amount": "238.01"}))
    assert "This date is in the future. Enter today or an earlier date." in text(
        owner.post(f"{path}/payments/new", {**pay, "received_on": "2199-01-01"})
    )
    paid = owner.post(f"{path}/payments/new", pay, follow=True)
    assert "€200.00" in text(paid)
    assert "At the counter" in text(paid)
    owner.post(f"{path}/payments/new", {**pay, "amount": "200", "method": "bank_transfer"})
    invoice.refresh_from_db()
    assert invoice.status == "paid"
    first = Payment.objects.get(workspace=a.workspace, amount=3800)
    back = f"/app/payments/{first.uuid}/refund"
    assert 'value="38.00"' in owner.get(back).content.decode()
    refund = {"amount": "38.01", "method": "cash", "reason": "Sorry"}
    assert "must not be more than is left" in text(owner.post(back, refund))
    assert "Refund of €8.00: Succeeded" in text(owner.post(back, {**refund, "amount": "8"}, follow=True))
    assert "Enter the quantity of at least one line." in text(owner.post(f"{path}/credit", {"line-1": ""}))
    note = owner.post(f"{path}/credit", {"line-1": "0.5"}, follow=True)
    assert flashes(note) == ["The credit note CN-0001 was issued."]
    assert "€59.50" in text(note)
    page = text(owner.get(path))
    for shown in ("CN-0001", "Credited", "Paid in full", "Refund succeeded", "VAT 19% of €200.00"):
        assert shown in page
    assert "Something was paid" in text(owner.post(f"{path}/void", follow=True))


def test_the_list_filters_finds_and_adds_up(a: Tenant, b: Tenant, owner: Client) -> None:
    ada = ContactFactory.create(workspace=a.workspace, name="Ada")
    an_invoice_of(a.workspace, now() - timedelta(days=3), due_in=timedelta(days=1), contact=ada)
    other = an_issued_invoice(a.workspace, lines=[a_line("50")])
    InvoiceFactory.create(workspace=a.workspace, lines=[a_line("7")])
    an_issued_invoice(b.workspace)
    record_payment(invoice=other, amount=2000, method="cash", now=now(), by=SYSTEM)

    def numbers(query: str) -> list[str]:
        return [row.number or "Draft" for row in owner.get(f"/app/invoices?{query}").context["rows"]]

    every = ["Draft", "INV-0002", "INV-0001"]
    assert numbers("") == every
    for query, expected in (
        ("status=overdue", ["INV-0001"]),
        ("status=open", ["INV-0002", "INV-0001"]),
        ("status=draft", ["Draft"]),
        ("status=void", []),
        ("search=0002", ["INV-0002"]),
        ("search=aDA", ["INV-0001"]),
        ("search=%00", []),
        (f"contact={ada.uuid}", ["INV-0001"]),
        ("contact=x", every),
        ("from=2020-01-01", ["INV-0002", "INV-0001"]),
        ("period=last-7-days", ["INV-0002", "INV-0001"]),
        ("period=today", ["INV-0002"]),
        ("period=x", every),
        ("to=2020-01-01", []),
        ("from=x&to=9999-12-31&sort=due", ["INV-0001", "INV-0002", "Draft"]),
        ("sort=issued", ["INV-0001", "INV-0002", "Draft"]),
    ):
        assert numbers(query) == expected, query
    assert (
        'Contact: Ada</span><a href="/app/invoices"' in owner.get(f"/app/invoices?contact={ada.uuid}").content.decode()
    )
    for query, number in (("period=today", 1), ("period=today&to=2020-01-01", 0), ("to=2020-01-01&period=x", 0)):
        assert len(owner.get(f"/app/payments?{query}").context["rows"]) == number, query
    listed = text(owner.get("/app/invoices"))
    for shown in ("Total in EUR €157.00", "Owed in EUR €130.00", "€30.00 owed", "Overdue"):
        assert shown in listed


def test_strangers_invoices_are_not_there(a: Tenant, b: Tenant, owner: Client) -> None:
    theirs = an_issued_invoice(b.workspace)
    payment = record_payment(invoice=theirs, amount=100, method="cash", now=now(), by=SYSTEM)
    for step in ("", "/edit", "/delete", "/issue", "/send", "/void", "/credit", "/pdf", "/payments/new"):
        assert owner.get(f"/app/invoices/{theirs.uuid}{step}").status_code == 404
    assert owner.get(f"/app/payments/{payment.uuid}/refund").status_code == 404


def test_pages_cost_the_same_however_much_they_show(a: Tenant, owner: Client) -> None:
    rate = TaxRateFactory.create(workspace=a.workspace)
    ada = ContactFactory.create(workspace=a.workspace)

    def one_more(lines: int) -> Invoice:
        made = an_issued_invoice(a.workspace, contact=ada, lines=[a_line("10", rate=rate)] * lines)
        record_payment(invoice=made, amount=100, method="cash", now=now(), by=SYSTEM)
        record_payment(invoice=made, amount=100, method="cash", now=now(), by=SYSTEM)
        return made

    def cost(page: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert owner.get(page).status_code == 200
        return len(queries)

    lists = ("/app/invoices", "/app/payments", "/app/finance", "/app/finance/taxes", f"/app/contacts/{ada.uuid}")
    small = one_more(1)
    steps = ("", "/credit", "/payments/new")
    few = [cost(page) for page in (*lists, *(f"/app/invoices/{small.uuid}{step}" for step in steps))]
    one_more(4)
    large = one_more(4)
    many = [cost(page) for page in (*lists, *(f"/app/invoices/{large.uuid}{step}" for step in steps))]
    assert many == few
    assert max(few) <= 29
