"""Invoices and tax rates in the workspace API, and the filters of their lists."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from rest_framework import serializers

from config.api.fields import (
    BooleanField,
    ChoiceField,
    DateTimeField,
    DecimalField,
    Field,
    FloatField,
    ListField,
    URLField,
    UUIDField,
)
from config.api.filters import BooleanFilter, ChoiceFilter, DateTimeFilter, FilterSet, TextFilter, UUIDFilter
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField, EmailField
from workspaces.catalogue.models import Product
from workspaces.catalogue.services import ProductNotFound
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.finance.models import Invoice, TaxRate
from workspaces.finance.models.invoices import (
    LONGEST_BUSINESS_NAME,
    LONGEST_DESCRIPTION,
    LONGEST_TAX_NAME,
    LONGEST_TEXT,
    LONGEST_VAT_ID,
    PERCENT_DECIMALS,
    QUANTITY_DECIMALS,
    InvoiceQuerySet,
)
from workspaces.finance.models.parties import LONGEST_ADDRESS
from workspaces.finance.services.amounts import MOST_LINES
from workspaces.finance.services.taxes import TaxRateNotFound

INVOICE = "6c2f1d0e-4b7a-4f6e-8d55-0a1b2c3d4e5f"
CREDITED = "0d9c8b7a-6f5e-4d3c-9b2a-1f0e9d8c7b6a"
TAX_RATE = "b3a1f0c2-9d4e-4f7a-8c6b-5e4d3c2b1a09"
PRODUCT = "c0a6a5a1-6f5e-4f0e-9b0e-3f4f6c1d2e7b"
CONTACT = "1f8d6a0e-7b1c-4a5e-9f0d-2c3b4a5d6e7f"
LARGEST_AMOUNT = Decimal(10) ** 11
LARGEST_QUANTITY = Decimal("999999999.999")
STATUSES = (*Invoice.Status.choices, ("overdue", "Overdue"))


def contacts_of_caller(context: Mapping[str, Any]) -> "QuerySet[Contact]":
    return Contact.objects.of(context["view"].workspace)


def products_of_caller(context: Mapping[str, Any]) -> "QuerySet[Product]":
    return Product.objects.of(context["view"].workspace)


def tax_rates_of_caller(context: Mapping[str, Any]) -> "QuerySet[TaxRate]":
    return TaxRate.objects.of(context["view"].workspace)


class DateField(Field, serializers.DateField):
    """A day without a time, such as `2026-11-20`."""

    is_written_as_it_is = False
    default_error_messages = {"invalid": "{subject} must be a date such as 2026-11-20."}

    def to_internal_value(self, data: object) -> date:
        try:
            return (
                date.fromisoformat(data) if isinstance(data, str) and len(data) == len("2026-11-20") else self.refuse()
            )
        except ValueError:
            return self.refuse()

    def refuse(self) -> date:
        self.fail("invalid")

    def to_representation(self, value: date) -> str:
        return str(value.isoformat())


def amount_field(**options: object) -> FloatField:
    return FloatField(**{"help_text": "In the invoice's currency.", "example": 119.0, **options})


class TaxRateSerializer(Serializer):
    """A tax rate. With `inclusive` prices contain the tax."""

    id = UUIDField(source="uuid", read_only=True, example=TAX_RATE)
    name = CharField(max_length=LONGEST_TAX_NAME, example="VAT")
    percent = DecimalField(min_value=Decimal(0), max_value=Decimal(100), decimal_places=PERCENT_DECIMALS, example=19.0)
    inclusive = BooleanField(required=False, default=False, help_text="Whether prices contain the tax.")
    archived = BooleanField(source="is_archived", read_only=True)
    created_at = DateTimeField(read_only=True)


class TaxRateChangesSerializer(Serializer):
    """What can change of a tax rate."""

    name = CharField(max_length=LONGEST_TAX_NAME, required=False, example="VAT")
    percent = DecimalField(
        min_value=Decimal(0), max_value=Decimal(100), decimal_places=PERCENT_DECIMALS, required=False, example=19.0
    )
    inclusive = BooleanField(required=False)
    archived = BooleanField(required=False, help_text="An archived rate cannot be used for new lines.", example=True)


class LineTaxRateSerializer(Serializer):
    """The tax rate of a line, as the invoice keeps it."""

    id = UUIDField(source="tax_rate.uuid", example=TAX_RATE)
    name = CharField(source="tax_name", example="VAT")
    percent = FloatField(source="shown_percent", example=19.0)
    inclusive = BooleanField(source="tax_inclusive")


class LineProductSerializer(Serializer):
    """The product of a line."""

    id = UUIDField(source="uuid", example=PRODUCT)
    name = CharField(example="Argan oil shampoo")


class InvoiceLineSerializer(Serializer):
    """A line. `amount` is quantity times price, rounded to the currency's decimals."""

    description = CharField(example="Consulting")
    quantity = FloatField(source="shown_quantity", example=2.0)
    unit_price = amount_field(source="shown_unit_price", example=50.0)
    amount = amount_field(source="shown_amount", example=100.0)
    tax_rate = LineTaxRateSerializer(source="shown_tax_rate", allow_null=True)
    product = LineProductSerializer(allow_null=True)


class InvoiceTaxSerializer(Serializer):
    """The tax of all lines of one rate."""

    name = CharField(example="VAT")
    percent = FloatField(source="shown_percent", example=19.0)
    base = amount_field(source="shown_base", example=100.0)
    tax = amount_field(source="shown_tax", example=19.0)


class PartySerializer(Serializer):
    """The seller or the buyer, as the invoice keeps it."""

    name = CharField(blank_as_null=True, example="Corner Salon")
    address = CharField(blank_as_null=True, example="1 High Street, 10115 Berlin")
    vat_id = CharField(blank_as_null=True, example="DE123456789")
    email = CharField(blank_as_null=True, example="ada@example.com")


class InvoiceContactSerializer(Serializer):
    """The contact who gets the invoice."""

    id = UUIDField(source="uuid", example=CONTACT)
    name = CharField(example="Ada Lovelace")
    phone = CharField(allow_null=True, example="+4930123456")


class CreditedInvoiceSerializer(Serializer):
    """The invoice that a credit note corrects."""

    id = UUIDField(source="uuid", example=CREDITED)
    number = CharField(example="INV-0007")


class InvoiceSerializer(Serializer):
    """An invoice or a credit note. Amounts are in its currency, with that currency's decimals."""

    id = UUIDField(source="uuid", example=INVOICE)
    kind = ChoiceField(Invoice.Kind.choices, example="invoice")
    number = CharField(allow_null=True, help_text="Null for a draft.", example="INV-0042")
    status = ChoiceField(STATUSES, source="shown_status", example="open")
    contact = InvoiceContactSerializer(allow_null=True)
    seller = PartySerializer(source="sold_by")
    buyer = PartySerializer(source="billed_to")
    credits = CreditedInvoiceSerializer(allow_null=True)
    currency = CharField(example="EUR")
    language = CharField(example="en")
    lines = InvoiceLineSerializer(many=True)
    taxes = InvoiceTaxSerializer(many=True)
    net = amount_field(source="amounts.net", example=100.0)
    tax = amount_field(source="amounts.tax", example=19.0)
    total = amount_field(source="amounts.total", example=119.0)
    paid = amount_field(source="amounts.paid", example=0.0)
    credited = amount_field(source="amounts.credited", help_text="What credit notes have taken back.", example=0.0)
    balance = amount_field(source="amounts.balance", help_text="What is still owed.", example=119.0)
    reverse_charge = BooleanField()
    note = CharField(blank_as_null=True, example="Thank you for your order.")
    supplied_on = DateField(allow_null=True, example="2026-11-20")
    due_at = DateTimeField(allow_null=True, example="2026-12-04T22:59:59Z")
    issued_at = DateTimeField(allow_null=True, example="2026-11-20T09:30:00Z")
    sent_at = DateTimeField(allow_null=True)
    paid_at = DateTimeField(allow_null=True)
    voided_at = DateTimeField(allow_null=True)
    pay_url = URLField(allow_null=True, example="https://app.example.com/pay/q3mB1xT9")
    created_at = DateTimeField()
    updated_at = DateTimeField()


class LineBodySerializer(Serializer):
    """A line, as it is written."""

    description = CharField(max_length=LONGEST_DESCRIPTION, example="Consulting")
    quantity = DecimalField(
        min_value=Decimal("0.001"),
        max_value=LARGEST_QUANTITY,
        decimal_places=QUANTITY_DECIMALS,
        required=False,
        default=Decimal(1),
        example=2,
    )
    unit_price = DecimalField(
        min_value=-LARGEST_AMOUNT,
        max_value=LARGEST_AMOUNT,
        decimal_places=2,
        help_text="With at most the currency's decimals. Less than zero for a discount.",
        example=50.0,
    )
    tax_rate = TenantRelatedField(
        queryset=tax_rates_of_caller,
        missing=TaxRateNotFound,
        representation=TaxRateSerializer(),
        required=False,
        allow_null=True,
        default=None,
        example=None,
    )
    product = TenantRelatedField(
        queryset=products_of_caller,
        missing=ProductNotFound,
        representation=LineProductSerializer(),
        required=False,
        allow_null=True,
        default=None,
        example=None,
    )


class BuyerBodySerializer(Serializer):
    """What the invoice says of its buyer. What is left out is taken from the contact at issue."""

    name = CharField(max_length=LONGEST_BUSINESS_NAME, required=False, allow_blank=True, example="Analytical Engines")
    address = CharField(max_length=LONGEST_ADDRESS, required=False, allow_blank=True, multiline=True)
    vat_id = CharField(max_length=LONGEST_VAT_ID, required=False, allow_blank=True, example="DE123456789")
    email = EmailField(required=False, example="accounts@engines.example")


class InvoiceBodySerializer(Serializer):
    """A draft, as it is written."""

    contact = TenantRelatedField(
        queryset=contacts_of_caller, missing=ContactNotFound, representation=InvoiceContactSerializer(), example=CONTACT
    )
    lines = ListField(child=LineBodySerializer(), min_length=1, max_length=MOST_LINES)
    buyer = BuyerBodySerializer(required=False)
    due_at = DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Without it the payment terms of the workspace say when, counted from the issue.",
        example="2030-12-04T23:59:59+01:00",
    )
    supplied_on = DateField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Without it the day of the issue.",
        example="2026-11-20",
    )
    reverse_charge = BooleanField(
        required=False, default=False, help_text="The buyer owes the tax: no line has a tax, and a VAT id is needed."
    )
    note = CharField(
        max_length=LONGEST_TEXT,
        required=False,
        allow_blank=True,
        default="",
        multiline=True,
        example="Thank you for your order.",
    )
    language = ChoiceField(settings.LANGUAGES, required=False, help_text="The language of the document.", example="en")


class CreditBodySerializer(Serializer):
    """What a credit note takes back. Without lines it takes all that is left of the invoice."""

    lines = ListField(child=LineBodySerializer(), min_length=1, max_length=MOST_LINES, required=False)


def by_status(rows: InvoiceQuerySet, _: str, status: str) -> "QuerySet[Invoice]":
    """Keep invoices that are shown with a status: an overdue one is no longer open."""
    if status == "overdue":
        return rows.overdue(Now())
    rows = rows.filter(status=status)
    return rows.exclude(kind="invoice", due_at__lte=Now()) if status == Invoice.Status.OPEN else rows


class InvoiceFilterSet(FilterSet):
    status = ChoiceFilter(choices=STATUSES, method=by_status, help_text="Only those of this status.")
    kind = ChoiceFilter(choices=Invoice.Kind.choices, help_text="Only invoices, or only credit notes.")
    contact = UUIDFilter(field_name="contact__uuid", help_text="Only those of this contact.")
    number = TextFilter(field_name="number", help_text="Only the one with exactly this number.")
    created_after = DateTimeFilter(
        field_name="created_at", lookup_expr="gte", help_text="Only those created then or later."
    )
    created_before = DateTimeFilter(
        field_name="created_at", lookup_expr="lte", help_text="Only those created then or earlier."
    )


class TaxRateFilterSet(FilterSet):
    archived = BooleanFilter(
        field_name="archived_at", lookup_expr="isnull", exclude=True, help_text="Only those that are archived, or not."
    )
