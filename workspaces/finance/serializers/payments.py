"""Payments, refunds and payouts in the workspace API, and what people send to make payments and refunds."""

from decimal import Decimal

from config.api.fields import BooleanField, ChoiceField, DateField, DateTimeField, DecimalField, FloatField, UUIDField
from config.api.filters import ChoiceFilter, DateFilter, FilterSet
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from workspaces.finance.models import Payment, Payout, PayoutTransaction, Refund
from workspaces.finance.models.payments import LONGEST_NOTE
from workspaces.finance.services.payments import BY_HAND

INVOICE = "6c2f1d0e-4b7a-4f6e-8d55-0a1b2c3d4e5f"
PAYMENT = "2e7d9c41-58f0-4c1b-9a63-7f5e1d0c8b2a"
PAYOUT = "5d3e8a17-2c4b-4e9f-a6d1-0b7c8e9f1a23"
REFUND = "91b5c7de-0f3a-4d28-8e6c-3a2b1c4d5e6f"
STATUSES = [(name, name) for name in ("received", "partially_refunded", "refunded", "disputed")]


def amount_field(**options: object) -> DecimalField:
    return DecimalField(
        min_value=Decimal("0.01"),
        max_value=Decimal(10) ** 11,
        decimal_places=2,
        **{"help_text": "In the invoice's currency, with at most its decimals.", **options},
    )


def shown_amount(source: str, example: float, **options: object) -> FloatField:
    return FloatField(source=source, example=example, **{"help_text": "In the payment's currency.", **options})


class PaymentInvoiceSerializer(Serializer):
    """The invoice that a payment is for."""

    id = UUIDField(source="uuid", example=INVOICE)
    number = CharField(example="INV-0042")


class PaymentSerializer(Serializer):
    """Money that arrived for an invoice. `refunded` counts what is on its way back, too."""

    id = UUIDField(source="uuid", example=PAYMENT)
    invoice = PaymentInvoiceSerializer()
    amount = shown_amount("shown_amount", 119.0)
    currency = CharField(example="EUR")
    method = ChoiceField(Payment.Method.choices, example=Payment.Method.BANK_TRANSFER.value)
    status = ChoiceField(STATUSES, example="received")
    refunded = shown_amount("shown_refunded", 0.0)
    note = CharField(example="Statement of 3 December")
    received_at = DateTimeField(example="2026-12-03T09:12:00Z")
    created_at = DateTimeField(example="2026-12-03T09:12:00Z")


class PaymentBodySerializer(Serializer):
    """A payment that arrived outside of the payment provider."""

    amount = amount_field(example=119.0)
    method = ChoiceField([(method.value, method.label) for method in BY_HAND], example="bank_transfer")
    received_at = DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Now, if it is left out. It cannot be in the future.",
        example="2026-11-20T09:12:00Z",
    )
    note = CharField(
        max_length=LONGEST_NOTE, required=False, allow_blank=True, default="", example="Statement of 3 December"
    )


class RefundSerializer(Serializer):
    """Money that goes back from a payment."""

    id = UUIDField(source="uuid", example=REFUND)
    amount = shown_amount("shown_amount", 19.0)
    currency = CharField(source="payment.currency", example="EUR")
    method = ChoiceField(Payment.Method.choices, example=Payment.Method.STRIPE.value)
    status = ChoiceField(Refund.Status.choices, example=Refund.Status.SUCCEEDED.value)
    reason = CharField(example="Two hours were not used.")
    failure = CharField(help_text="The provider's code, if the refund has failed.", example="")
    created_at = DateTimeField(example="2026-12-04T10:00:00Z")
    ended_at = DateTimeField(allow_null=True, example="2026-12-04T10:00:02Z")


class RefundBodySerializer(Serializer):
    """A refund. Without `method` the money goes back the way it came."""

    amount = amount_field(example=19.0)
    method = ChoiceField(
        Payment.Method.choices,
        required=False,
        allow_null=True,
        default=None,
        help_text="By hand: cash, bank_transfer, card or other. `stripe` is only for payments that came through it.",
        example="cash",
    )
    reason = CharField(
        max_length=LONGEST_NOTE, required=False, allow_blank=True, default="", example="Two hours were not used."
    )


class PayoutSerializer(Serializer):
    """Money that the payment provider sends to the workspace's bank. Below zero, it takes money from the bank."""

    id = UUIDField(source="uuid", example=PAYOUT)
    provider_id = CharField(help_text="The provider's own id.", example="po_1Q2w3E4r5T6y7U8i")
    amount = shown_amount("shown_amount", 117.46, help_text="In the payout's currency.")
    currency = CharField(example="EUR")
    status = ChoiceField(Payout.Status.choices, example=Payout.Status.PAID.value)
    arrives_on = DateField(help_text="When the bank has the money, or is expected to have it.", example="2026-12-07")
    automatic = BooleanField(
        help_text="Whether the provider made it by itself. Only then does it say what the payout consists of.",
        example=True,
    )
    fees = shown_amount(
        "shown_fees",
        1.54,
        allow_null=True,
        help_text="What the provider kept. Null until all transactions of the payout are known.",
    )
    failure_code = CharField(help_text="The provider's code, if the payout has failed.", example="")
    failure_message = CharField(help_text="The provider's words for it.", example="")
    created_at = DateTimeField(help_text="When the provider made it.", example="2026-12-04T00:12:00Z")


class PayoutFilterSet(FilterSet):
    status = ChoiceFilter(choices=Payout.Status.choices, help_text="Only those of this status.")
    arrives_after = DateFilter(
        field_name="arrives_on", lookup_expr="gte", help_text="Only those that arrive on this date or later."
    )
    arrives_before = DateFilter(
        field_name="arrives_on", lookup_expr="lte", help_text="Only those that arrive on this date or earlier."
    )


class PayoutTransactionSerializer(Serializer):
    """A part of a payout, such as a payment. `net` is `amount` less `fee`; all parts add up to the payout."""

    id = UUIDField(source="uuid", example="e0b8f4c6-7a1d-4c35-9b2e-6d5f3a4c1b08")
    kind = ChoiceField(PayoutTransaction.Kind.choices, example=PayoutTransaction.Kind.PAYMENT.value)
    amount = shown_amount("shown_amount", 119.0, help_text="In the payout's currency. Below zero for what went back.")
    fee = shown_amount("shown_fee", 1.54, help_text="What the provider kept of it.")
    net = shown_amount("shown_net", 117.46, help_text="What it adds to the payout.")
    currency = CharField(source="payout.currency", example="EUR")
    payment = UUIDField(
        source="payment_uuid",
        allow_null=True,
        help_text="The payment that it is about. Null if that is not of an invoice.",
        example=PAYMENT,
    )
    invoice = PaymentInvoiceSerializer(source="payment_invoice", allow_null=True)
    refund = UUIDField(source="refund_uuid", allow_null=True, example=None)
    provider_kind = CharField(help_text="The provider's word for it.", example="charge")
    provider_id = CharField(source="source_id", help_text="The provider's id of what it is about.", example="ch_3Q2w")
    description = CharField(help_text="The provider's words for a fee of its own.", example="")
    created_at = DateTimeField(example="2026-12-03T09:12:00Z")
