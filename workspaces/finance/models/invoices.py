"""Invoices and credit notes with their lines and taxes, and what a workspace decides about them."""

import uuid
from datetime import datetime
from types import SimpleNamespace
from typing import Self

from django.db import models
from django.db.models import F, Prefetch, Q
from django.db.models.functions import Now
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from agency.services.hosts import base_url_of
from config.db import database_now
from config.encryption import EncryptedTextField
from workspaces.catalogue.models import Product
from workspaces.contacts.models import Contact
from workspaces.finance.models.parties import LONGEST_ADDRESS, Party
from workspaces.subaccounts.models import Workspace

LONGEST_TAX_NAME = 60
LONGEST_PREFIX = 20
LONGEST_NUMBER = 40
LONGEST_DESCRIPTION = 500
LONGEST_TEXT = 2_000
LONGEST_BUSINESS_NAME = 200
LONGEST_VAT_ID = 40
LONGEST_TERMS = 365
QUANTITY_DIGITS, QUANTITY_DECIMALS = 12, 3
IS_OPEN = Q(status="open", kind="invoice")
PERCENT_DIGITS, PERCENT_DECIMALS = 6, 3
PAY_PATH = "/pay/"


def as_number(minor: int, exponent: int) -> float:
    """Return an amount as a JSON number in major units. Every amount of an invoice is exact below 2 ** 53."""
    return minor / (100 if exponent == 2 else 1)


class TaxRateQuerySet(models.QuerySet["TaxRate"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the tax rates of one workspace, archived ones too."""
        return self.filter(workspace=workspace)

    def in_use(self) -> Self:
        """Leave out the archived ones."""
        return self.filter(archived_at=None)


class TaxRate(models.Model):
    """A tax rate of a workspace. `inclusive` says that prices with this rate contain the tax.

    The row of an archived rate stays, because invoices refer to it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="tax_rates", db_index=False)
    name = models.CharField(max_length=LONGEST_TAX_NAME)
    name_key = models.CharField(max_length=LONGEST_TAX_NAME * 4, editable=False)
    percent = models.DecimalField(max_digits=PERCENT_DIGITS, decimal_places=PERCENT_DECIMALS)
    inclusive = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now, editable=False)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = TaxRateQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name_key"], condition=Q(archived_at=None), name="tax_rate_name_once_per_workspace"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="tax_rate_has_a_name"),
            models.CheckConstraint(condition=Q(percent__range=(0, 100)), name="tax_rate_is_a_percentage"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None


class InvoiceSeries(models.Model):
    """The numbers of a workspace's invoices, or of its credit notes. Issuing takes `next_number` and adds one."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="invoice_series", db_index=False)
    kind = models.CharField(max_length=20)
    prefix = models.CharField(max_length=LONGEST_PREFIX, blank=True)
    next_number = models.PositiveBigIntegerField(default=1)

    class Meta:
        verbose_name_plural = "invoice series"
        constraints = [
            models.UniqueConstraint(fields=["workspace", "kind"], name="invoice_series_once_per_kind"),
            models.CheckConstraint(condition=Q(next_number__gte=1), name="invoice_series_begins_at_one"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.workspace_id}"


class InvoiceQuerySet(models.QuerySet["Invoice"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the invoices and credit notes of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")

    def overdue(self, now: datetime | Now) -> Self:
        """Keep what is open and past due."""
        return self.filter(status="open", kind="invoice", due_at__lte=now)

    def with_parts(self) -> Self:
        """Fetch what the API shows of each invoice, and the database's time for `shown_status`."""
        lines = InvoiceLine.objects.select_related("tax_rate", "product").order_by("position")
        rows = self.select_related("workspace", "contact", "credits").annotate(read_at=Now())
        return rows.prefetch_related(Prefetch("lines", lines), Prefetch("taxes", InvoiceTax.objects.order_by("id")))


class Invoice(models.Model):
    """An invoice, or a credit note that corrects one. All amounts are whole minor units of `currency`.

    `exponent` is how many decimals the currency has. A draft has no number and can be changed. From issue on, triggers
    keep everything that was issued: number, dates, parties, lines, taxes and totals. `seller` and `buyer` are copies
    made at issue: `{name, address, vat_id, …}`. `due_at` is the end of the due day by the workspace's clock.

    `paid` is the sum of succeeded payments, minus refunds that are pending or succeeded, minus withdrawn disputes.
    `credited` is the sum of its credit notes. `balance` is what is still owed. The status `paid` is set when nothing
    is owed any more. Overdue is computed; `overdue_at` says that it was reported.

    `token` opens the public pay page, and `token_digest` finds the invoice by it; both are set at issue.

    The draft of a prepayment (`is_prepayment`) can be paid at the provider, and nobody can change it meanwhile. The
    payment issues it, so one that is never paid takes no number.
    """

    class Kind(models.TextChoices):
        INVOICE = "invoice", _("Invoice")
        CREDIT_NOTE = "credit_note", _("Credit note")

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")
        PAID = "paid", _("Paid")
        VOID = "void", _("Void")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="invoices", db_index=False)
    kind = models.CharField(max_length=20, choices=Kind, default=Kind.INVOICE)
    credits = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="credit_notes")
    contact = models.ForeignKey(
        Contact, null=True, blank=True, on_delete=models.SET_NULL, related_name="invoices", db_index=False
    )
    status = models.CharField(max_length=20, choices=Status, default=Status.DRAFT)
    number = models.CharField(max_length=LONGEST_NUMBER, null=True, blank=True)
    currency = models.CharField(max_length=3)
    exponent = models.PositiveSmallIntegerField()
    language = models.CharField(max_length=10, blank=True)
    seller = models.JSONField(default=dict, blank=True)
    buyer = models.JSONField(default=dict, blank=True)
    supplied_on = models.DateField(null=True, blank=True)
    reverse_charge = models.BooleanField(default=False)
    is_prepayment = models.BooleanField(default=False, db_default=False)
    note = models.CharField(max_length=LONGEST_TEXT, blank=True)
    net = models.BigIntegerField(default=0)
    tax = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    paid = models.BigIntegerField(default=0)
    credited = models.BigIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)
    issued_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    voided_at = models.DateTimeField(null=True, blank=True)
    overdue_at = models.DateTimeField(null=True, blank=True)
    token = EncryptedTextField(bound_to="uuid", null=True)
    token_digest = models.BinaryField(null=True, unique=True)
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)

    objects = InvoiceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "kind", "number"],
                condition=Q(number__isnull=False),
                name="invoice_number_once_per_workspace",
            ),
            models.CheckConstraint(
                condition=Q(status="draft", number=None, issued_at=None, token_digest=None)
                | (~Q(status="draft") & Q(number__isnull=False, issued_at__isnull=False, token_digest__isnull=False)),
                name="invoice_number_comes_with_issue",
            ),
            models.CheckConstraint(condition=Q(kind__in=["invoice", "credit_note"]), name="invoice_kind_is_known"),
            models.CheckConstraint(
                condition=Q(kind="invoice", credits=None) | Q(kind="credit_note", credits__isnull=False),
                name="invoice_credit_note_names_its_invoice",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "open", "paid", "void"]), name="invoice_status_is_known"
            ),
            models.CheckConstraint(condition=Q(total=F("net") + F("tax")), name="invoice_total_is_net_and_tax"),
            models.CheckConstraint(condition=Q(credited__gte=0, credited__lte=F("total")), name="invoice_credit_fits"),
            models.CheckConstraint(condition=Q(exponent__in=[0, 2]), name="invoice_currency_has_0_or_2_decimals"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="invoice_newest"),
            models.Index(fields=["workspace", "status", "-created_at", "-id"], name="invoice_by_status"),
            models.Index(fields=["contact", "-created_at", "-id"], name="invoice_of_contact"),
            models.Index(fields=["workspace", "issued_at", "id"], name="invoice_by_issue"),
            models.Index(fields=["workspace", "due_at", "id"], name="invoice_by_due"),
            models.Index(fields=["workspace", "due_at", "id"], condition=IS_OPEN, name="invoice_open_by_due"),
            models.Index(
                fields=["due_at"],
                condition=Q(status="open", kind="invoice", overdue_at=None),
                name="invoice_to_become_overdue",
            ),
        ]

    def __str__(self) -> str:
        return self.number or f"draft {self.uuid}"

    @property
    def balance(self) -> int:
        """What is still owed, in minor units. Negative after an overpayment, and 0 for a credit note."""
        return self.total - self.credited - self.paid if self.kind == self.Kind.INVOICE else 0

    @property
    def is_draft(self) -> bool:
        return self.status == self.Status.DRAFT

    @property
    def takes_checkouts(self) -> bool:
        """Say whether it can be paid at the provider: it is open, or it is the draft of a prepayment."""
        is_open = self.status == self.Status.OPEN or (self.is_draft and self.is_prepayment)
        return self.kind == self.Kind.INVOICE and is_open

    @property
    def shown_status(self) -> str:
        """The status, or `overdue` for an open invoice whose due time has passed by the database's clock."""
        if self.status != self.Status.OPEN or self.kind != self.Kind.INVOICE or self.due_at is None:
            return self.status
        read_at: datetime = getattr(self, "read_at", None) or database_now()
        return "overdue" if self.due_at <= read_at else self.status

    @property
    def billed_to(self) -> Party:
        """The buyer. A draft takes what it does not say from the contact; issuing keeps a copy."""
        said = Party.from_json(self.buyer)
        if not self.is_draft or self.contact is None:
            return said
        return Party(
            name=said.name or self.contact.name,
            address=said.address or _text_of(self.contact, "address"),
            vat_id=said.vat_id or _text_of(self.contact, "vat_id"),
            email=said.email or self.contact.email or "",
            phone=said.phone or self.contact.phone or "",
        )

    @property
    def sold_by(self) -> Party:
        """The seller's copy. It is empty for a draft."""
        return Party.from_json(self.seller)

    @property
    def pay_url(self) -> str | None:
        """The address of the public pay page. A draft, a void invoice and a credit note have none."""
        if self.kind != self.Kind.INVOICE or self.status not in (self.Status.OPEN, self.Status.PAID):
            return None
        return f"{base_url_of(self.workspace.agency_id)}{PAY_PATH}{self.token}"

    @property
    def amounts(self) -> SimpleNamespace:
        """The amounts as JSON numbers, by their names."""
        names = ("net", "tax", "total", "paid", "credited", "balance")
        return SimpleNamespace(**{name: as_number(getattr(self, name), self.exponent) for name in names})


def _text_of(contact: Contact, name: str) -> str:
    """Return a contact's attribute as one text that fits an invoice."""
    value: object = contact.attributes.get(name)
    return value.strip()[:LONGEST_ADDRESS] if isinstance(value, str) else ""


class InvoiceLine(models.Model):
    """A line of an invoice. `unit_price` and `amount` are minor units; the tax rate is copied.

    `amount` is quantity times unit price, rounded half up, and contains the tax if `tax_inclusive`.
    """

    invoice = models.ForeignKey(Invoice, on_delete=models.CASCADE, related_name="lines", db_index=False)
    position = models.PositiveSmallIntegerField()
    description = models.CharField(max_length=LONGEST_DESCRIPTION)
    quantity = models.DecimalField(max_digits=QUANTITY_DIGITS, decimal_places=QUANTITY_DECIMALS)
    unit_price = models.BigIntegerField()
    amount = models.BigIntegerField()
    tax_rate = models.ForeignKey(TaxRate, null=True, blank=True, on_delete=models.PROTECT, related_name="lines")
    tax_name = models.CharField(max_length=LONGEST_TAX_NAME, blank=True)
    tax_percent = models.DecimalField(max_digits=PERCENT_DIGITS, decimal_places=PERCENT_DECIMALS, default=0)
    tax_inclusive = models.BooleanField(default=False)
    product = models.ForeignKey(Product, null=True, blank=True, on_delete=models.PROTECT, related_name="invoice_lines")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["invoice", "position"], name="invoice_line_position_once"),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="invoice_line_quantity_is_positive"),
        ]

    def __str__(self) -> str:
        return self.description

    @property
    def shown_quantity(self) -> float:
        return float(self.quantity)

    @property
    def shown_percent(self) -> float:
        return float(self.tax_percent)

    @property
    def shown_tax_rate(self) -> "InvoiceLine | None":
        """The line itself if it has a tax rate: it holds the copy."""
        return self if self.tax_rate_id else None

    @property
    def shown_unit_price(self) -> float:
        return as_number(self.unit_price, self.invoice.exponent)

    @property
    def shown_amount(self) -> float:
        return as_number(self.amount, self.invoice.exponent)


class InvoiceTax(models.Model):
    """The tax of one rate of an issued invoice: what it is computed from (`base`, the net amount), and the tax."""

    invoice = models.ForeignKey(Invoice, on_delete=models.CASCADE, related_name="taxes", db_index=False)
    name = models.CharField(max_length=LONGEST_TAX_NAME, blank=True)
    percent = models.DecimalField(max_digits=PERCENT_DIGITS, decimal_places=PERCENT_DECIMALS)
    inclusive = models.BooleanField(default=False)
    base = models.BigIntegerField()
    tax = models.BigIntegerField()

    class Meta:
        verbose_name_plural = "invoice taxes"
        constraints = [
            models.UniqueConstraint(fields=["invoice", "name", "percent", "inclusive"], name="invoice_tax_rate_once")
        ]

    def __str__(self) -> str:
        return f"{self.percent} % of {self.invoice_id}"

    @property
    def shown_percent(self) -> float:
        return float(self.percent)

    @property
    def shown_base(self) -> float:
        return as_number(self.base, self.invoice.exponent)

    @property
    def shown_tax(self) -> float:
        return as_number(self.tax, self.invoice.exponent)


class InvoiceDocument(models.Model):
    """The PDF of an issued invoice, made once and kept as it was."""

    invoice = models.OneToOneField(Invoice, on_delete=models.CASCADE, primary_key=True, related_name="document")
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=now, editable=False)

    def __str__(self) -> str:
        return f"PDF of {self.invoice_id}"
