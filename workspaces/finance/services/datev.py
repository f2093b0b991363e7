"""A posting batch for DATEV: format EXTF 700, category 21 (Buchungsstapel), version 13, in the character set CP1252.

Each tax rate of an invoice is one posting to the customers' account, and so is each payment and each refund. Revenue
accounts are expected to compute the tax themselves, as those of the German charts of accounts do.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from django.db.models import QuerySet

from agency.services.exports import FORMULA
from config.errors import InvalidInput
from workspaces.finance.models import BookkeepingSettings, Dispute, Invoice, InvoiceTax, Payment, Refund
from workspaces.finance.services.bookkeeping import bookkeeping_of
from workspaces.finance.services.exports import Days, batches, check_size, issued_invoices, received_payments
from workspaces.finance.services.reports import add_months
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.money import from_minor

ENCODING: Final = "cp1252"
MOST_POSTINGS: Final = 99_999
DEBIT, CREDIT = "S", "H"
NOT_IN_A_NUMBER: Final = re.compile(r"[^A-Za-z0-9$&%*+\-/]")
NOT_IN_A_TEXT: Final = re.compile(r"[\x00-\x1f\x7f]")
# The names of the columns in their order; a number after a name repeats a pair so often.
COLUMNS: Final = (
    "Umsatz (ohne Soll/Haben-Kz)",
    "Soll/Haben-Kennzeichen",
    "WKZ Umsatz",
    "Kurs",
    "Basis-Umsatz",
    "WKZ Basis-Umsatz",
    "Konto",
    "Gegenkonto (ohne BU-Schlüssel)",
    "BU-Schlüssel",
    "Belegdatum",
    "Belegfeld 1",
    "Belegfeld 2",
    "Skonto",
    "Buchungstext",
    "Postensperre",
    "Diverse Adressnummer",
    "Geschäftspartnerbank",
    "Sachverhalt",
    "Zinssperre",
    "Beleglink",
    *(f"Beleginfo - {part} {number}" for number in range(1, 9) for part in ("Art", "Inhalt")),
    "KOST1 - Kostenstelle",
    "KOST2 - Kostenstelle",
    "Kost-Menge",
    "EU-Land u. UStID (Bestimmung)",
    "EU-Steuersatz (Bestimmung)",
    "Abw. Versteuerungsart",
    "Sachverhalt L+L",
    "Funktionsergänzung L+L",
    "BU 49 Hauptfunktionstyp",
    "BU 49 Hauptfunktionsnummer",
    "BU 49 Funktionsergänzung",
    *(f"Zusatzinformation - {part} {number}" for number in range(1, 21) for part in ("Art", "Inhalt")),
    "Stück",
    "Gewicht",
    "Zahlweise",
    "Forderungsart",
    "Veranlagungsjahr",
    "Zugeordnete Fälligkeit",
    "Skontotyp",
    "Auftragsnummer",
    "Buchungstyp",
    "USt-Schlüssel (Anzahlungen)",
    "EU-Land (Anzahlungen)",
    "Sachverhalt L+L (Anzahlungen)",
    "EU-Steuersatz (Anzahlungen)",
    "Erlöskonto (Anzahlungen)",
    "Herkunft-Kz",
    "Buchungs GUID",
    "KOST-Datum",
    "SEPA-Mandatsreferenz",
    "Skontosperre",
    "Gesellschaftername",
    "Beteiligtennummer",
    "Identifikationsnummer",
    "Zeichnernummer",
    "Postensperre bis",
    "Bezeichnung SoBil-Sachverhalt",
    "Kennzeichen SoBil-Buchung",
    "Festschreibung",
    "Leistungsdatum",
    "Datum Zuord. Steuerperiode",
    "Fälligkeit",
    "Generalumkehr (GU)",
    "Steuersatz",
    "Land",
    "Abrechnungsreferenz",
    "BVV-Position",
    "EU-Land u. UStID (Ursprung)",
    "EU-Steuersatz (Ursprung)",
    "Abw. Skontokonto",
)
POSITION: Final = {name: number for number, name in enumerate(COLUMNS)}
TEXTS: Final = frozenset(
    {"Soll/Haben-Kennzeichen", "WKZ Umsatz", "Belegfeld 1", "Buchungstext", "EU-Land u. UStID (Bestimmung)"}
)


class NotOneYear(InvalidInput):
    message = "A DATEV file holds the days of one financial year. Choose days of one year."
    field = "last"


def exported_postings(workspace: Workspace, days: Days, *, now: datetime) -> Iterator[bytes]:
    """Yield the postings of these days in the workspace's currency, as lines of a DATEV file.

    Raises `NotOneYear` and `TooManyRows`.
    """
    batch = PostingBatch(workspace, days, bookkeeping_of(workspace))
    batch.check()
    return (line.encode(ENCODING, errors="replace") for line in batch.lines(now))


@dataclass(frozen=True, slots=True)
class PostingBatch:
    """The postings of a workspace's days. Its dates are those of the workspace's clock."""

    workspace: Workspace
    days: Days
    accounts: BookkeepingSettings

    def check(self) -> None:
        if self.days.last >= add_months(self.year_begins, 12):
            raise NotOneYear
        taxes = InvoiceTax.objects.filter(invoice__in=self._invoices)
        check_size(
            taxes, self._payments, self._payments.filter(fee__gt=0), self._refunds, self._disputes, most=MOST_POSTINGS
        )

    @property
    def year_begins(self) -> date:
        """The first day of the financial year of the first day."""
        first, month = self.days.first, self.accounts.year_begins_in
        return date(first.year if first.month >= month else first.year - 1, month, 1)

    @property
    def _invoices(self) -> "QuerySet[Invoice]":
        return issued_invoices(self.workspace, self.days).filter(currency=self.workspace.currency)

    @property
    def _payments(self) -> "QuerySet[Payment]":
        return received_payments(self.workspace, self.days).filter(currency=self.workspace.currency)

    @property
    def _refunds(self) -> "QuerySet[Refund]":
        return Refund.objects.filter(
            payment__workspace=self.workspace,
            payment__currency=self.workspace.currency,
            status=Refund.Status.SUCCEEDED,
            ended_at__gte=self.days.start,
            ended_at__lt=self.days.end,
        )

    @property
    def _disputes(self) -> "QuerySet[Dispute]":
        """The payments that a payer's bank has taken back."""
        return Dispute.objects.filter(
            payment__workspace=self.workspace,
            payment__currency=self.workspace.currency,
            withdrawn=True,
            changed_at__gte=self.days.start,
            changed_at__lt=self.days.end,
        )

    def lines(self, now: datetime) -> Iterator[str]:
        yield _line(self.header(now))
        yield _line(COLUMNS)
        for invoices in batches(self._invoices.prefetch_related("taxes"), "issued_at"):
            for invoice in invoices:
                yield from map(_posting_line, self._of_invoice(invoice))
        for payments in batches(self._payments.select_related("invoice"), "received_at"):
            for payment in payments:
                yield from map(_posting_line, self._of_payment(payment))
        for refunds in batches(self._refunds.select_related("payment__invoice"), "ended_at"):
            yield from (_posting_line(self._of_refund(refund)) for refund in refunds)
        for disputes in batches(self._disputes.select_related("payment__invoice"), "changed_at"):
            yield from (_posting_line(self._of_dispute(dispute)) for dispute in disputes)

    def header(self, now: datetime) -> list[str]:
        """Return the 31 fields of the first line."""
        made = now.astimezone(self.days.zone)
        head: dict[int, str] = {
            1: _quoted("EXTF"),
            2: "700",
            3: "21",
            4: _quoted("Buchungsstapel"),
            5: "13",
            6: f"{made:%Y%m%d%H%M%S}{made.microsecond // 1000:03}",
            8: _quoted("SV"),
            9: _quoted(""),
            10: _quoted(""),
            11: str(self.accounts.consultant_number),
            12: str(self.accounts.client_number),
            13: f"{self.year_begins:%Y%m%d}",
            14: str(self.accounts.account_length),
            15: f"{self.days.first:%Y%m%d}",
            16: f"{self.days.last:%Y%m%d}",
            17: _quoted(_text(self.workspace.name, 30)),
            18: _quoted(""),
            19: "1",
            20: "0",
            21: "0",
            22: _quoted(self.workspace.currency),
            31: _quoted(""),
        }
        return [head.get(number, "") for number in range(1, 32)]

    def _of_invoice(self, invoice: Invoice) -> Iterator[Mapping[str, str]]:
        taken_back = invoice.kind == Invoice.Kind.CREDIT_NOTE
        due = invoice.due_at
        more = {"Fälligkeit": f"{due.astimezone(self.days.zone):%d%m%Y}"} if due and not taken_back else {}
        if invoice.reverse_charge:
            more["EU-Land u. UStID (Bestimmung)"] = _text(str(invoice.buyer.get("vat_id", "")).replace(" ", ""), 15)
        for tax in invoice.taxes.all():
            gross = tax.base + tax.tax
            amount = -gross if taken_back else gross
            if amount:
                revenue = self._revenue(invoice, tax.percent)
                yield self._posting(
                    invoice, amount, self.accounts.receivables, revenue, on=_known(invoice.issued_at), **more
                )

    def _revenue(self, invoice: Invoice, percent: Decimal) -> str:
        if invoice.reverse_charge:
            return self.accounts.revenue_reverse_charge
        of_rates = {Decimal(19): self.accounts.revenue_19, Decimal(7): self.accounts.revenue_7}
        return of_rates.get(percent, self.accounts.revenue_other)

    def _of_payment(self, payment: Payment) -> Iterator[Mapping[str, str]]:
        money = self._money_account(payment.method)
        yield self._posting(payment.invoice, payment.amount, money, self.accounts.receivables, on=payment.received_at)
        if payment.fee:
            yield self._posting(payment.invoice, payment.fee, self.accounts.fees, money, on=payment.received_at)

    def _of_refund(self, refund: Refund) -> Mapping[str, str]:
        payment = refund.payment
        money = self._money_account(refund.method)
        return self._posting(
            payment.invoice, -refund.amount, money, self.accounts.receivables, on=_known(refund.ended_at)
        )

    def _of_dispute(self, dispute: Dispute) -> Mapping[str, str]:
        payment = dispute.payment
        money = self._money_account(payment.method)
        return self._posting(payment.invoice, -dispute.amount, money, self.accounts.receivables, on=dispute.changed_at)

    def _money_account(self, method: str) -> str:
        accounts = {
            Payment.Method.CASH.value: self.accounts.cash,
            Payment.Method.BANK_TRANSFER.value: self.accounts.bank,
        }
        return accounts.get(method, self.accounts.provider)

    def _posting(
        self, invoice: Invoice, amount: int, account: str, contra: str, *, on: datetime, **more: str
    ) -> Mapping[str, str]:
        """Return a posting by its columns. An amount below zero goes to the other side."""
        written = f"{abs(from_minor(amount, invoice.exponent)):.2f}".replace(".", ",")
        return {
            "Umsatz (ohne Soll/Haben-Kz)": written,
            "Soll/Haben-Kennzeichen": DEBIT if amount > 0 else CREDIT,
            "WKZ Umsatz": invoice.currency,
            "Konto": account,
            "Gegenkonto (ohne BU-Schlüssel)": contra,
            "Belegdatum": f"{on.astimezone(self.days.zone):%d%m}",
            "Belegfeld 1": NOT_IN_A_NUMBER.sub("-", invoice.number or "")[:36],
            "Buchungstext": _text(str(invoice.buyer.get("name", "")), 60),
            "Festschreibung": "0",
            **more,
        }


def _known(moment: datetime | None) -> datetime:
    """Return a time that every issued invoice and every ended refund has."""
    assert moment is not None  # noqa: S101  # a constraint of the tables, or the condition of the query
    return moment


def _text(text: str, most: int) -> str:
    """Return a text that fits a field, without control characters and without the beginning of a formula."""
    return NOT_IN_A_TEXT.sub(" ", text).lstrip(f" {FORMULA}")[:most].strip()


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""'))


def _posting_line(posting: Mapping[str, str]) -> str:
    cells = [""] * len(COLUMNS)
    for name, value in posting.items():
        cells[POSITION[name]] = _quoted(value) if name in TEXTS else value
    return _line(cells)


def _line(cells: Iterable[str]) -> str:
    return ";".join(cells) + "\r\n"
