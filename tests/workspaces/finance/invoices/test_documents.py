"""The PDF of an invoice says what the API says, is made once, and goes to the buyer by e-mail."""

import hashlib
from decimal import Decimal
from email.message import EmailMessage
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import DatabaseError, transaction
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext

from agency.actors import SYSTEM
from agency.models import Mail
from agency.services import send_next_mail
from tests import furnished
from tests.factories import ContactFactory
from tests.factories.finance import InvoiceFactory, TaxRateFactory, a_line, an_issued_invoice
from tests.parallel import at_once
from tests.tenants import Tenant, message
from tests.workspaces.finance.invoices.pdf_text import text_of
from workspaces.finance.models import Invoice, InvoiceDocument
from workspaces.finance.models.parties import Party
from workspaces.finance.services.documents import invoice_pdf
from workspaces.finance.services.invoices import LineInput, credit_invoice
from workspaces.finance.services.settings import change_finance_settings
from workspaces.subaccounts.services.money import format_money

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
FOREIGN = "Привет Αθήνα مرحبا 株式会社 हिन्दी 🎉 #let $x$ *b* @a <b> \\u{41}"


def pdf_of(a: Tenant, invoice: Invoice) -> bytes:
    answer = a.workspace_api.get(f"/invoices/{invoice.uuid}/pdf")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
    return bytes(answer.content)


def plain(text: str) -> str:
    """Return a text without its spaces, which typesetting moves, and without the places where it may break words."""
    return "".join(text.replace("\N{ZERO WIDTH SPACE}", "").split())


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "pt-br"])
def test_a_pdf_has_what_the_law_asks_for_and_the_amounts_of_the_api(a: Tenant, language: str) -> None:
    change_finance_settings(
        workspace=a.workspace, now=now(), by=SYSTEM, business_name="Salon GmbH", address="High Street 1", vat_id="DE111"
    )
    vat = TaxRateFactory.create(workspace=a.workspace, name="VAT")
    invoice = an_issued_invoice(
        a.workspace,
        lines=[a_line("1234.56", "3", vat), a_line("-10", "1.5", vat), a_line("0.99")],
        buyer=Party(name="Analytical Engines", address="Low Street 2\nLondon", vat_id="GB222"),
        language=language,
    )
    shown = a.workspace_api.get(f"/invoices/{invoice.uuid}").json()["data"]
    text = plain(text_of(pdf_of(a, invoice)))
    with translation.override(language):
        labels = [gettext(label) for label in ("Invoice", "Date of issue", "Date of supply", "Due date", "Total")]
    numbers = [shown["net"], shown["tax"], shown["total"], *(line["amount"] for line in shown["lines"])]
    money = [format_money(int(Decimal(str(each)) * 100), shown["currency"], language) for each in numbers]
    parties = ["Salon GmbH", "High Street 1", "DE111", "Analytical Engines", "Low Street 2", "London", "GB222"]
    for part in [shown["number"], *labels, *money, *parties]:
        assert plain(part) in text, part


def test_a_pdf_is_made_once_and_stays(a: Tenant) -> None:
    invoice = an_issued_invoice(a.workspace)
    first = pdf_of(a, invoice)
    kept = InvoiceDocument.objects.get()
    assert kept.sha256 == hashlib.sha256(first).hexdigest()
    change_finance_settings(workspace=a.workspace, now=now(), by=SYSTEM, business_name="Another name")
    assert pdf_of(a, invoice) == first
    with pytest.raises(DatabaseError), transaction.atomic():
        InvoiceDocument.objects.update(sha256="")
    draft = InvoiceFactory.create(workspace=a.workspace)
    answer = a.workspace_api.get(f"/invoices/{draft.uuid}/pdf")
    assert (answer.status_code, message(answer)) == (409, "A draft has no PDF. Issue it first.")


@pytest.mark.django_db(transaction=True)
def test_all_who_need_a_pdf_first_get_the_same(a: Tenant) -> None:
    invoice = an_issued_invoice(a.workspace)
    assert len(set(at_once(lambda _: invoice_pdf(invoice), times=6, threads=6))) == 1


def test_no_text_of_a_tenant_is_a_command_or_breaks_the_document(a: Tenant) -> None:
    lines = [LineInput(FOREIGN, Decimal(1), Decimal(1))] * 3
    contact = ContactFactory.create(workspace=a.workspace, name=FOREIGN)
    invoice = an_issued_invoice(a.workspace, contact=contact, lines=lines, note=f"{FOREIGN}\n\n{FOREIGN}")
    text = plain(text_of(pdf_of(a, invoice)))
    for part in ("Привет", "Αθήνα", "#let$x$*b*@a<b>\\u{41}"):
        assert text.count(part) >= 6, part


def test_a_long_word_is_broken_and_leaves_the_amounts_readable(a: Tenant) -> None:
    invoice = an_issued_invoice(a.workspace, lines=[LineInput("W" * 500, Decimal(1), Decimal(7))])
    text = text_of(pdf_of(a, invoice))
    assert ("W" * 60 in text, plain(text).count("W")) == (False, 500)


def test_a_credit_note_and_reverse_charge_say_what_they_are(a: Tenant) -> None:
    buyer = Party(name="Engines", vat_id="FR1")
    invoice = an_issued_invoice(a.workspace, reverse_charge=True, buyer=buyer, language="en")
    note = credit_invoice(invoice=invoice, now=now(), by=SYSTEM)
    text = plain(text_of(pdf_of(a, note)))
    for part in ("Credit note CN-0001", "invoice INV-0001 of", "Reverse charge", "FR1"):
        assert plain(part) in text, part


def sent_mail() -> EmailMessage:
    while send_next_mail():
        pass
    return outbox.outbox[-1].message()


def test_an_invoice_is_sent_with_its_pdf_and_the_pay_page(a: Tenant) -> None:
    contact = ContactFactory.create(workspace=a.workspace, email="buyer@example.com")
    invoice = an_issued_invoice(a.workspace, contact=contact)
    answer = a.workspace_api.post(f"/invoices/{invoice.uuid}/send")
    assert (answer.status_code, bool(answer.json()["data"]["sent_at"])) == (200, True)
    sent: Any = sent_mail()
    assert sent["To"] == "buyer@example.com"
    parts = {part.get_content_type(): part for part in sent.walk()}
    assert answer.json()["data"]["pay_url"] in parts["text/plain"].get_payload(decode=True).decode()
    assert parts["application/pdf"].get_payload(decode=True) == pdf_of(a, invoice)
    assert parts["application/pdf"].get_filename() == "INV-0001.pdf"
    assert not Mail.objects.filter(context__icontains="INV-0001").exists()


def test_what_cannot_be_sent_is_refused(a: Tenant) -> None:
    nobody = ContactFactory.create(workspace=a.workspace, phone="+4930123456", email=None)
    issued = an_issued_invoice(a.workspace, contact=nobody)
    for invoice, status in ((InvoiceFactory.create(workspace=a.workspace), 409), (issued, 422)):
        assert a.workspace_api.post(f"/invoices/{invoice.uuid}/send").status_code == status
    assert not Mail.objects.filter(kind="invoice").exists()
