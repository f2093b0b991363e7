"""Payments of invoices, refunds of payments, and payouts of the payment provider."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from config.api.operations import object_response, operation, page_response
from config.db import database_now
from workspaces.finance.models import Invoice, Payment, Payout, PayoutTransaction, Refund
from workspaces.finance.serializers.payments import (
    PaymentBodySerializer,
    PaymentSerializer,
    PayoutFilterSet,
    PayoutSerializer,
    PayoutTransactionSerializer,
    RefundBodySerializer,
    RefundSerializer,
)
from workspaces.finance.services.amounts import AmountRefused, to_minor
from workspaces.finance.services.checkouts import end_checkouts
from workspaces.finance.services.invoices import InvoiceNotFound
from workspaces.finance.services.payments import PaymentNotFound, PaymentRefused, record_payment
from workspaces.finance.services.payouts import PayoutNotFound
from workspaces.finance.services.refunds import refund_payment
from workspaces.subaccounts.api.surface import WorkspaceViewSet


def minor_units(amount: Decimal, exponent: int) -> int:
    """Return an amount in minor units. Raises `PaymentRefused` if it has more decimals than the currency."""
    try:
        return to_minor(amount, exponent)
    except AmountRefused as refused:
        raise PaymentRefused(refused.message) from refused


def close_payment_page(view: "InvoicePaymentViewSet") -> None:
    """Close the open payment page of the invoice, before the request's transaction begins."""
    end_checkouts(invoice=view.get_invoice(), now=database_now())


class InvoicePaymentViewSet(WorkspaceViewSet):
    """The payments of an invoice."""

    lookup_url_kwarg = "payment"
    not_found = PaymentNotFound

    def get_invoice(self) -> Invoice:
        """Find the invoice that the path names."""
        found = self.find(Invoice.objects.of(self.workspace), self.kwargs["invoice"], missing=InvoiceNotFound)
        found.workspace = self.workspace
        return found

    def get_queryset(self) -> "QuerySet[Payment]":
        return Payment.objects.filter(invoice=self.get_invoice()).select_related("invoice")

    @operation(
        operation_id="listPayments",
        summary="List the payments of an invoice in the order in which they were recorded",
        answer=page_response(PaymentSerializer),
    )
    def list(self, request: Request, invoice: UUID | None) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("id"), PaymentSerializer)

    @operation(
        operation_id="recordPayment",
        summary="Record a payment that arrived outside of the payment provider",
        request=PaymentBodySerializer,
        status=201,
        answer=object_response(PaymentSerializer),
        errors={
            404: "No such invoice.",
            409: "The invoice is a draft or void, or somebody is paying it at the provider.",
            422: "The amount is more than is owed.",
        },
        idempotent=True,
        prepare=close_payment_page,
    )
    def create(self, request: Request, invoice: UUID | None) -> HttpResponse:
        found = self.get_invoice()
        wanted: dict[str, Any] = self.validated(PaymentBodySerializer).validated_data
        wanted["amount"] = minor_units(wanted["amount"], found.exponent)
        payment = record_payment(invoice=found, now=database_now(), by=self.actor, **wanted)
        return self.answer(PaymentSerializer(payment), status=201)


class RefundViewSet(WorkspaceViewSet):
    """The refunds of a payment."""

    lookup_url_kwarg = "refund"
    not_found = PaymentNotFound

    def get_payment(self) -> Payment:
        """Find the payment that the path names."""
        rows = Payment.objects.of(self.workspace).select_related("invoice")
        found = self.find(rows, self.kwargs["payment"], missing=PaymentNotFound)
        found.workspace = found.invoice.workspace = self.workspace
        return found

    def get_queryset(self) -> "QuerySet[Refund]":
        return Refund.objects.filter(payment=self.get_payment()).select_related("payment__invoice")

    @operation(
        operation_id="listRefunds",
        summary="List the refunds of a payment in the order in which they were made",
        answer=page_response(RefundSerializer),
    )
    def list(self, request: Request, payment: UUID | None) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("id"), RefundSerializer)

    @operation(
        operation_id="refundPayment",
        summary="Give money back; through the provider it is pending until the provider has answered",
        request=RefundBodySerializer,
        status=201,
        answer=object_response(RefundSerializer),
        errors={404: "No such payment.", 422: "The amount is more than is left of the payment."},
        idempotent=True,
    )
    def create(self, request: Request, payment: UUID | None) -> HttpResponse:
        found = self.get_payment()
        wanted: dict[str, Any] = self.validated(RefundBodySerializer).validated_data
        refund = refund_payment(
            payment=found,
            amount=minor_units(wanted["amount"], found.invoice.exponent),
            method=wanted["method"] or "",
            reason=wanted["reason"],
            now=database_now(),
            by=self.actor,
        )
        return self.answer(RefundSerializer(refund), status=201)


class PayoutViewSet(WorkspaceViewSet):
    """Payouts of the payment provider, and what each consists of."""

    lookup_url_kwarg = "payout"
    not_found = PayoutNotFound

    def get_queryset(self) -> "QuerySet[Payout]":
        return Payout.objects.of(self.workspace)

    @operation(
        operation_id="listPayouts",
        summary="List the payouts of the payment provider, the last arrival first",
        answer=page_response(PayoutSerializer),
        filters=PayoutFilterSet,
        errors={422: "A date is malformed."},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(self.get_queryset())
        return self.page_of(rows.order_by("-arrives_on", "-id"), PayoutSerializer)

    @operation(operation_id="readPayout", summary="Read a payout", answer=object_response(PayoutSerializer))
    def retrieve(self, request: Request, payout: UUID | None) -> HttpResponse:
        return self.answer(PayoutSerializer(self.get_object()))

    @operation(
        operation_id="listPayoutTransactions",
        summary="List what an automatic payout consists of; complete once its fees are known",
        answer=page_response(PayoutTransactionSerializer),
    )
    def list_transactions(self, request: Request, payout: UUID | None) -> HttpResponse:
        rows = PayoutTransaction.objects.filter(payout=self.get_object()).with_payments()
        return self.page_of(rows.order_by("id"), PayoutTransactionSerializer)


urlpatterns = [
    path("payouts", PayoutViewSet.as_view({"get": "list"}), name="payouts-list"),
    path("payouts/<id:payout>", PayoutViewSet.as_view({"get": "retrieve"}), name="payouts-detail"),
    path(
        "payouts/<id:payout>/transactions",
        PayoutViewSet.as_view({"get": "list_transactions"}),
        name="payouts-transactions-list",
    ),
    path(
        "invoices/<id:invoice>/payments",
        InvoicePaymentViewSet.as_view({"get": "list", "post": "create"}),
        name="invoices-payments-list",
    ),
    path(
        "payments/<id:payment>/refunds",
        RefundViewSet.as_view({"get": "list", "post": "create"}),
        name="payments-refunds-list",
    ),
]
