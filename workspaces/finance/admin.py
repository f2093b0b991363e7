"""Read-only pages of the support admin about invoices, payments, tax rates and settings."""

from typing import ClassVar

from django.contrib import admin
from django.db.models import Model, QuerySet

from agency.admin.base import ReadOnlyAdmin, by_uuid
from config.api.requests import parse_uuid
from workspaces.finance.models import (
    Checkout,
    FinanceSettings,
    Invoice,
    InvoiceLine,
    InvoiceSeries,
    Payment,
    Payout,
    ProviderAccount,
    Refund,
    TaxRate,
)


class OfWorkspaceAdmin(ReadOnlyAdmin):
    list_select_related: ClassVar[tuple[str, ...]] = ("workspace",)
    search_fields = ("workspace__uuid",)
    search_help_text = "A sub-account's uuid."

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        return queryset.filter(workspace__uuid=found) if found else queryset.none()


class WithUuidAdmin(OfWorkspaceAdmin):
    search_fields = ("uuid",)
    search_help_text = "A uuid, or its sub-account's."

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        return by_uuid(queryset, term) | super().search(queryset, term)


@admin.register(TaxRate)
class TaxRateAdmin(WithUuidAdmin):
    list_display = ("name", "percent", "inclusive", "workspace", "created_at", "archived_at")
    fields = ("uuid", "workspace", "name", "percent", "inclusive", "created_at", "archived_at")


@admin.register(Invoice)
class InvoiceAdmin(WithUuidAdmin):
    list_display = ("number", "kind", "status", "total", "paid", "currency", "workspace", "created_at")
    fields = (
        "uuid",
        "workspace",
        "kind",
        "number",
        "status",
        "credits",
        "contact",
        "currency",
        "exponent",
        "language",
        "seller",
        "buyer",
        "reverse_charge",
        "net",
        "tax",
        "total",
        "paid",
        "credited",
        "supplied_on",
        "due_at",
        "created_at",
        "updated_at",
        "issued_at",
        "sent_at",
        "overdue_at",
        "paid_at",
        "voided_at",
    )


@admin.register(InvoiceLine)
class InvoiceLineAdmin(ReadOnlyAdmin):
    list_display = ("description", "quantity", "unit_price", "amount", "invoice")
    list_select_related = ("invoice",)
    search_fields = ("invoice__uuid",)
    search_help_text = "An invoice's uuid."
    fields = (
        "invoice",
        "position",
        "description",
        "quantity",
        "unit_price",
        "amount",
        "tax_rate",
        "tax_name",
        "tax_percent",
        "tax_inclusive",
        "product",
    )

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        return queryset.filter(invoice__uuid=found) if found else queryset.none()


@admin.register(InvoiceSeries)
class InvoiceSeriesAdmin(OfWorkspaceAdmin):
    list_display = ("workspace", "kind", "prefix", "next_number")
    fields = ("workspace", "kind", "prefix", "next_number")


@admin.register(FinanceSettings)
class FinanceSettingsAdmin(OfWorkspaceAdmin):
    list_display = ("workspace", "business_name", "payment_days", "shares_totals", "changed_at")
    fields = (
        "workspace",
        "business_name",
        "address",
        "vat_id",
        "tax_number",
        "payment_details",
        "footer",
        "payment_days",
        "shares_totals",
        "changed_at",
    )


# Payments ---------------------------------------------------------------------------------------------


@admin.register(ProviderAccount)
class ProviderAccountAdmin(WithUuidAdmin):
    """The account without its key and the secret of its webhook."""

    list_display = ("workspace", "provider", "name", "live", "failure", "created_at", "disconnected_at")
    fields = (
        "uuid",
        "workspace",
        "provider",
        "name",
        "account_id",
        "live",
        "key_hint",
        "endpoint_id",
        "failure",
        "failing_since",
        "endpoint_failure",
        "look_at",
        "looked_until",
        "look_began_at",
        "look_cursor",
        "look_tries",
        "look_failure",
        "payouts_refused_at",
        "created_at",
        "disconnected_at",
    )


@admin.register(Payout)
class PayoutAdmin(WithUuidAdmin):
    list_display = ("arrives_on", "amount", "currency", "status", "failure", "workspace", "created_at")
    fields = (
        "uuid",
        "workspace",
        "account",
        "provider_id",
        "status",
        "amount",
        "currency",
        "arrives_on",
        "automatic",
        "fees",
        "failure_code",
        "failure_message",
        "list_at",
        "listed_to",
        "listed_at",
        "tries",
        "failure",
        "created_at",
        "changed_at",
    )


@admin.register(Payment)
class PaymentAdmin(WithUuidAdmin):
    list_display = ("invoice", "amount", "currency", "method", "refunded", "disputed", "received_at")
    list_select_related = ("workspace", "invoice")
    fields = (
        "uuid",
        "workspace",
        "invoice",
        "amount",
        "currency",
        "method",
        "provider_id",
        "fee",
        "refunded",
        "disputed",
        "received_at",
        "created_at",
    )


class OfInvoiceAdmin(ReadOnlyAdmin):
    """Rows that are found by their own uuid."""

    search_fields = ("uuid",)
    search_help_text = "A uuid."

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        return by_uuid(queryset, term)


@admin.register(Checkout)
class CheckoutAdmin(OfInvoiceAdmin):
    """Checkouts without the address at which the payer pays."""

    list_display = ("amount", "status", "currency", "failure", "created_at", "ended_at", "uuid")
    fields = (
        "uuid",
        "invoice",
        "account",
        "status",
        "amount",
        "currency",
        "provider_id",
        "failure",
        "expires_at",
        "check_at",
        "tries",
        "created_at",
        "ended_at",
    )


@admin.register(Refund)
class RefundAdmin(OfInvoiceAdmin):
    list_display = ("amount", "status", "method", "failure", "created_at", "ended_at", "uuid")
    fields = (
        "uuid",
        "payment",
        "amount",
        "method",
        "status",
        "provider_id",
        "failure",
        "call_at",
        "tries",
        "created_at",
        "ended_at",
    )
